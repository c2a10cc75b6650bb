import { OTHER } from '../telemetry/label-axis.js';
import type { Endpoint } from './endpoint/endpoint.js';
import { endpointName, namedEndpoint } from './endpoint-name.js';

type Endpoints = ReadonlyMap<string, Endpoint>;

/** The endpoints of some workspaces; all of them without a list. */
export function endpointsIn(endpoints: Endpoints, workspaces?: readonly string[]): Endpoints {
  if (workspaces === undefined) return endpoints;
  return new Map([...endpoints].filter(([, one]) => workspaces.includes(endpointName(one).workspace)));
}

/** Whether metrics name endpoints of several workspaces. @param counted endpoints that requests were counted for, also former ones */
export function nameSeveralWorkspaces(endpoints: Endpoints, counted: readonly string[]): boolean {
  const names = [...endpoints.keys(), ...counted.filter((name) => name !== OTHER)];
  return new Set(names.map((name) => namedEndpoint(endpoints, name).workspace)).size > 1;
}

const ENDPOINT = /[{,]endpoint="((?:[^"\\]|\\.)*)"/;
const REPLICA = /[{,]replica="/;

/**
 * Metrics in Prometheus' text format, reduced to the endpoints of some workspaces and to replicas: what has neither label is about
 * the whole gateway. Families that become empty are left out.
 * @param text with the replicas of these endpoints only
 * @param workspaces undefined for all of it
 */
export function seenMetrics(text: string, endpoints: Endpoints, workspaces: readonly string[] | undefined): string {
  if (workspaces === undefined) return text;
  const isSeen = (sample: string) => {
    const name = ENDPOINT.exec(sample)?.[1];
    if (name === undefined) return REPLICA.test(sample);
    // Beyond a number of endpoints, those of all workspaces are counted as one.
    if (name === OTHER && !endpoints.has(OTHER)) return false;
    return workspaces.includes(namedEndpoint(endpoints, name).workspace);
  };
  const lines: string[] = [];
  let head: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('# HELP')) head = [line];
    else if (line.startsWith('#')) head.push(line);
    else if (line !== '' && isSeen(line)) {
      lines.push(...head, line);
      head = [];
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}
