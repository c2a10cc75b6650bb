/** What the audit log calls whoever changes a store by hand: he needs no name, only the file or the database. */
export const COMMAND_LINE = 'command-line';
