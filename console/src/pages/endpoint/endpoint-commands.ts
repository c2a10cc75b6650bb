import { withQuery } from '../../api/client';
import { flag, inWorkspace, quoted } from '../../parts/commands';
import type { EndpointTab } from '../../shell/router';

interface Shown {
  readonly workspace: string;
  readonly name: string;
  /** The path of the endpoint in the API. */
  readonly base: string;
  /** Of which replica the log is; undefined for all. */
  readonly replica: string | undefined;
  /** `true` for the log of the replica that ended last. */
  readonly previous: string | undefined;
}

/** What a tab shows, by commands and by the API. */
export function commandsOf(tab: EndpointTab, { base, name, previous, replica, workspace }: Shown) {
  const where = inWorkspace(workspace);
  switch (tab) {
    case 'rollout':
      return {
        commands: [
          `twinyard rollout status ep/${quoted(name)}${where}`,
          `twinyard rollout history ep/${quoted(name)}${where}`,
        ],
        calls: [`${base}/revisions`],
      };
    case 'logs': {
      const which = previous === 'true' ? { previous: true } : { follow: true, replica };
      const flags = previous === 'true' ? ' --previous' : ` --follow${flag('replica', replica)}`;
      return {
        commands: [`twinyard logs ep/${quoted(name)}${where}${flags}`],
        calls: [withQuery(`${base}/logs`, which)],
      };
    }
    case 'events': {
      const path = withQuery('events', { kind: 'Endpoint', workspace, name });
      return { commands: [`twinyard events ep/${quoted(name)}${where}`], calls: [path] };
    }
    case 'yaml': {
      const commands = [`twinyard get ep/${quoted(name)}${where} -o yaml`, 'twinyard apply -f endpoint.yaml --dry-run'];
      return { commands, calls: [base] };
    }
    case 'policy':
      return { commands: [`twinyard describe ep/${quoted(name)}${where}`], calls: [`${base}/policy/history`] };
    case 'shadows':
      return {
        commands: [`twinyard shadow list --endpoint ${quoted(name)}${where}`],
        calls: [`${base}/shadows`],
      };
    default:
      return {
        commands: [`twinyard describe ep/${quoted(name)}${where}`, 'twinyard top'],
        calls: [`${base}/replicas`],
      };
  }
}
