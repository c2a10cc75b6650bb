import type { AdviceDocument } from '../../twin/advise/advice-document.js';
import type { JobBoard } from './job-board.js';

/** The latest advice about an endpoint among the jobs, as its live view has it. */
export function adviceIn(jobs: JobBoard | undefined, { name, workspace }: { workspace: string; name: string }) {
  const found = jobs
    ?.list()
    .find(
      (job) => job.kind === 'advice' && job.result !== null && job.workspace === workspace && job.endpoint === name,
    );
  if (found === undefined) return {};
  const { best, verdict } = found.result as AdviceDocument;
  const at = new Date(found.endedMs!).toISOString();
  return { advice: { job: found.id, at, verdict, policy: best?.policy ?? null } };
}
