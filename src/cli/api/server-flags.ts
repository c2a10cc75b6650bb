import { DEFAULT_WORKSPACE } from '../../control/resources/resource.js';
import { file, stringFlag, toggle } from '../flags/kinds.js';

export const DATA_DIR = '.twinyard';

/** The server whose API a command calls. */
export const serverFlags = {
  server: stringFlag({
    default: null,
    placeholder: 'url',
    defaultText: '$TWINYARD_SERVER, else that of the context, else the gateway of --data-dir',
    help: 'admin address of a gateway',
  }),
  token: stringFlag({
    default: null,
    placeholder: 'token',
    defaultText: '$TWINYARD_TOKEN, else that of the context or of the gateway of --data-dir',
    help: 'admin token of that gateway, or an API key with a role',
  }),
  'data-dir': file({
    placeholder: 'folder',
    defaultText: DATA_DIR,
    help: 'data folder of a gateway on this machine; its admin.json has address and token',
  }),
  context: stringFlag({
    default: null,
    placeholder: 'name',
    defaultText: "$TWINYARD_CONTEXT, else the one of 'twinyard context use'",
    help: 'a stored server, token and workspace',
  }),
};

/** The workspace of resources that belong to one. */
export const workspaceFlags = {
  workspace: {
    ...stringFlag({
      default: null,
      placeholder: 'name',
      defaultText: `that of the context, else ${DEFAULT_WORKSPACE}`,
      help: 'workspace of the resources',
    }),
    aliases: ['namespace'],
    letter: 'n',
  },
};

export const allWorkspacesFlags = {
  'all-workspaces': {
    ...toggle({ help: 'resources of all workspaces, with a column of the workspace' }),
    aliases: ['all-namespaces'],
    letter: 'A',
  },
};

export const watchFlags = { watch: { ...toggle({ help: 'print changes until interrupted' }), letter: 'w' } };
