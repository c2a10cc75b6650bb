/** The files of all `--config`, and the other arguments. A last one without a file stays: it is complained about there. */
export function takeConfigs(argv: readonly string[]): { configs: string[]; rest: string[] } {
  const configs: string[] = [];
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    const next = argv[i + 1];
    if (argument.startsWith('--config=')) configs.push(argument.slice('--config='.length));
    else if (argument === '--config' && next !== undefined && !next.startsWith('--')) configs.push(argv[++i]!);
    else rest.push(argument);
  }
  return { configs, rest };
}
