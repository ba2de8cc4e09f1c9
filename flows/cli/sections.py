"""The groups of commands in `--help`, and the former names of commands."""

import click

SECTIONS = {
    "ask": ("query", "open", "chips", "benchmark", "audit", "sources"),
    "collect": ("run", "collect", "build", "import", "backfill", "parse", "quarantine", "withdraw"),
    "decide": ("cost", "fit", "choose", "commitments", "breakeven", "makeorbuy", "fleet"),
    "share": ("report", "mail", "alert", "export", "mcp"),
    "look_after": ("doctor", "settings", "data", "deploy"),
}
"""Commands of each section of `--help`, in its order."""
FORMER = {name: ("data", name) for name in ("backup", "restore", "rebuild", "document", "migrate", "maintain")} | {
    "init": ("settings", "init"),
    "new-source": ("sources", "new"),
}
"""Former names of commands, accepted for one release with a warning, and their names now."""


class Sections(click.Group):
    """A group of commands that `--help` lists by section, and that accepts former names."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, section by section; those of no section come last."""
        listed = [name for names in SECTIONS.values() for name in names if name in self.commands]
        return [*listed, *(name for name in self.commands if name not in listed)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return name, command and its arguments; warn where the name is a former one."""
        if args and args[0] in FORMER:
            group, name = FORMER[args[0]]
            click.echo(
                f"warning: `chipledger {args[0]}` is now `chipledger {group} {name}`; the next release removes "
                "the former name",
                err=True,
            )
            args = [group, name, *args[1:]]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group of commands, one line a command."""
        for title, names in SECTIONS.items():
            rows = [(name, self.commands[name].get_short_help_str(60)) for name in names if name in self.commands]
            with formatter.section(title.replace("_", " ").capitalize()):
                formatter.write_dl(rows)
