/** Whether a name of a model is a path of the machine, and not one in a registry or below the folder of the replica. */
export function isHostPath(name: string): boolean {
  return /^(?:[/~\\]|\.{1,2}(?:$|[/\\])|file:)/i.test(name) || name.split(/[/\\]/).includes('..');
}
