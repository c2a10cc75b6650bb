import { PageHead } from '../../parts/basics';

export function RequestPage() {
  return <PageHead title="Request" />;
}
