import type { ReactNode } from 'react';
import { useBestRole } from '../api/access';
import { useGet, useSession } from '../api/queries';
import type { LiveEndpoint, Page } from '../api/types';
import { quoted } from './commands';
import { Empty } from './states';

/** The address of clients as this browser reaches it: a wildcard address is none. */
export const clientUrl = (url: string) => url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=[:/]|$)/, `//${location.hostname}`);

/** Nothing to show before the first request: how to send one to a model that is served. */
export function NothingSent({ children, title }: { readonly title: string; readonly children: ReactNode }) {
  const { data: session } = useSession();
  const isViewer = useBestRole() !== 'none';
  const { data } = useGet<Page<LiveEndpoint>>(isViewer ? 'live?limit=100' : null);
  const model = data?.items.flatMap(({ models }) => models)[0] ?? 'MODEL';
  const url = clientUrl(session?.gateway_url ?? '');
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] });
  const command = `curl ${quoted(`${url}/v1/chat/completions`)} -H "authorization: Bearer $API_KEY" -d ${quoted(body)}`;
  return (
    <Empty title={title} command={command}>
      {children}
    </Empty>
  );
}
