import { lognormal } from '../../kernel/distributions.js';
import { type RandomStream, randomStream } from '../../kernel/random-stream.js';
import { synthInvalid } from '../errors.js';
import { PUBLISHED } from './published.js';
import { turnCounts } from './turn-counts.js';

/** One call of an agent to the model. Tokens are not yet scaled to the published means. */
export interface AgenticTurn {
  arrivalUs: number;
  /** After the response before: the run of a tool, or the time of a user. 0 for the first turn. */
  pauseUs: number;
  output: number;
  /** What the turn adds: the task, a tool's result or, when the context starts over, the summary it starts with. */
  fresh: number;
  /** The context starts over: only the agent's and the project's part of the prompt is kept. */
  restarts: boolean;
}

export interface AgenticSession {
  /** Which of the agents' system prompts it starts with. */
  agent: number;
  turns: AgenticTurn[];
}

export interface AgenticOptions {
  seed: number;
  requests: number;
  sessions: number;
  durationS: number;
}

/** How often each of the agents (its system prompt and tools) is used. */
const AGENT_SHARES = [0.45, 0.25, 0.18, 0.12];
/** Turns until a context is compacted or left for a sub-agent's. */
const TURNS_PER_CONTEXT = { median: 60, sigma: 0.25 };
/** Tokens of a session's first request besides the shared part: the task and the files it names. */
const TASK = { median: 6000, sigma: 0.8 };
const TOOL_RESULT = { median: 150, sigma: 1.2 };
const SUMMARY = { median: 2500, sigma: 0.4 };
const OUTPUT = { median: 270, sigma: 1 };
const LONGEST_OUTPUT = 8192;
/** Seconds. Most pauses are the run of a tool, some the time of a user. */
const TOOL_RUN = { median: 1.5, sigma: 1.1 };
const PERSON = { median: 25, sigma: 0.8, share: 0.03 };
/** How long a response is assumed to have taken where the trace was recorded. */
const ANSWER_S = { fixed: 0.6, perToken: 0.008 };
/** Of the whole duration: no session takes more. */
const LONGEST_SESSION = 0.97;

interface Spread {
  median: number;
  sigma: number;
}

/** Draws the actions of the sessions and their times, each from its own stream. */
export function agenticSessions({ seed, requests, sessions, durationS }: AgenticOptions): AgenticSession[] {
  const stream = (name: string) => randomStream(seed, `synth/agentic-coder/${name}`);
  const counts = turnCounts(sessions, requests, stream('turns'));
  if (counts[sessions - 1]! > durationS) {
    const problem = `a session of ${counts[sessions - 1]} turns in ${durationS} s has less than a second for each`;
    throw synthInvalid('--duration', problem, 'give a longer duration, more sessions or fewer requests');
  }
  const drawn: AgenticSession[] = [];
  const streams = { agents: stream('agents'), contexts: stream('contexts'), inputs: stream('inputs') };
  for (const count of counts) drawn.push({ agent: agentOf(streams.agents), turns: turnsOf(count, streams) });
  drawOutputs(drawn, stream('outputs'));
  drawTimes(drawn, durationS, stream('pauses'), stream('starts'));
  return drawn;
}

function turnsOf(count: number, streams: { contexts: RandomStream; inputs: RandomStream }): AgenticTurn[] {
  const turns: AgenticTurn[] = [];
  let contextLeft = 0;
  for (let i = 0; i < count; i++) {
    const restarts = contextLeft-- === 0;
    if (restarts) contextLeft = Math.ceil(draw(TURNS_PER_CONTEXT, streams.contexts)) - 1;
    const fresh = draw(i === 0 ? TASK : restarts ? SUMMARY : TOOL_RESULT, streams.inputs);
    turns.push({ arrivalUs: 0, pauseUs: 0, output: 0, fresh, restarts });
  }
  return turns;
}

/** Scaled so that their mean is the published one. */
function drawOutputs(sessions: readonly AgenticSession[], random: RandomStream): void {
  const turns = sessions.flatMap((session) => session.turns);
  for (const turn of turns) turn.output = Math.min(LONGEST_OUTPUT, draw(OUTPUT, random));
  const scale = (PUBLISHED.meanOutput * turns.length) / turns.reduce((sum, { output }) => sum + output, 0);
  for (const turn of turns) turn.output = Math.max(1, Math.round(turn.output * scale));
}

/** Sessions begin at any time that lets them end in time; the first of all requests is at 0, the last at the end. */
function drawTimes(
  sessions: readonly AgenticSession[],
  durationS: number,
  pauses: RandomStream,
  starts: RandomStream,
): void {
  for (const { turns } of sessions) {
    let at = 0;
    for (let i = 1; i < turns.length; i++) {
      const pause = pauses.next() < PERSON.share ? draw(PERSON, pauses) : draw(TOOL_RUN, pauses);
      turns[i]!.pauseUs = pause;
      at += pause + ANSWER_S.fixed + ANSWER_S.perToken * turns[i - 1]!.output;
      turns[i]!.arrivalUs = at;
    }
    // A session that would take longer than the trace is a faster one.
    const scale = at > 0 ? Math.min(1, (LONGEST_SESSION * durationS) / at) : 1;
    const start = starts.next() * (durationS - at * scale);
    for (const turn of turns) {
      turn.arrivalUs = Math.round((start + turn.arrivalUs * scale) * 1e6);
      turn.pauseUs = Math.round(turn.pauseUs * scale * 1e6);
    }
  }
  const single = sessions.filter(({ turns }) => turns.length === 1).map(({ turns }) => turns[0]!);
  single.sort((a, b) => a.arrivalUs - b.arrivalUs);
  single[0]!.arrivalUs = 0;
  single[single.length - 1]!.arrivalUs = Math.round(durationS * 1e6);
}

function agentOf(random: RandomStream): number {
  let u = random.next();
  let agent = 0;
  while (agent < AGENT_SHARES.length - 1 && u >= AGENT_SHARES[agent]!) u -= AGENT_SHARES[agent++]!;
  return agent;
}

function draw({ median, sigma }: Spread, random: RandomStream): number {
  return lognormal(random, Math.log(median), sigma);
}
