/** Text as one word of a shell. Names in an address, and ids that clients send, may be anything. */
export const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** The flag of a command that names a workspace; nothing for the default one. */
export const inWorkspace = (workspace: string | undefined) =>
  workspace === undefined || workspace === 'default' ? '' : ` -n ${quoted(workspace)}`;

/** A flag with its value; nothing without one. */
export const flag = (name: string, value: string | undefined) =>
  value === undefined ? '' : ` --${name} ${quoted(value)}`;

/** A call of the API as a command. @param path after /api/v1/ */
export const apiCall = (path: string, method: 'GET' | 'POST' = 'GET') =>
  `curl ${method === 'GET' ? '' : `-X ${method} `}-H "authorization: Bearer $TWINYARD_TOKEN" ${quoted(`${location.origin}/api/v1/${path}`)}`;
