import { trafficFiles } from '../../workload/formats/traffic/traffic-files.js';
import { forEachLine } from '../../workload/input-chunks.js';

/** Which replica answered each request of a recording, by the number that its reader gives the request; empty for nobody. */
export async function trafficReplicas(path: string): Promise<(id: number) => string> {
  const replicas: string[] = [];
  for (const file of trafficFiles(path)) {
    await forEachLine(file, (line) => {
      if (line.trim() !== '') replicas.push(replicaOf(line));
    });
  }
  return (id) => replicas[id] ?? '';
}

function replicaOf(line: string): string {
  try {
    const { replica } = JSON.parse(line) as { replica?: unknown };
    return typeof replica === 'string' ? replica : '';
  } catch {
    // Cut off in the middle: its reader leaves it out.
    return '';
  }
}
