import { PageHead } from '../../parts/basics';

export function RequestsPage() {
  return <PageHead title="Requests" />;
}
