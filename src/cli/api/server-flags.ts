import { DEFAULT_WORKSPACE } from '../../control/resources/resource.js';
import { file, stringFlag, toggle } from '../flags/kinds.js';

export const DATA_DIR = '.twinyard';

/** Which control plane a command speaks to. */
export const serverFlags = {
  server: stringFlag({
    default: null,
    placeholder: 'url',
    defaultText: '$TWINYARD_SERVER, else the gateway of --data-dir',
    help: 'the admin address of a gateway',
  }),
  token: stringFlag({
    default: null,
    placeholder: 'token',
    defaultText: '$TWINYARD_TOKEN, else that of the gateway of --data-dir',
    help: 'its admin token, or a key with a role',
  }),
  'data-dir': file({
    placeholder: 'folder',
    defaultText: DATA_DIR,
    help: 'the folder in which a gateway of this machine says where it is',
  }),
};

/** Where resources are looked for that belong to a workspace. */
export const workspaceFlags = {
  workspace: {
    ...stringFlag({ default: null, placeholder: 'name', defaultText: DEFAULT_WORKSPACE, help: 'of which workspace' }),
    letter: 'w',
  },
};

export const allWorkspacesFlags = {
  'all-workspaces': { ...toggle({ help: 'of all workspaces, and say which' }), letter: 'A' },
};
