import type { RequestTable } from '../request-table.js';
import { clientLabels, clientName } from './client-labels.js';
import type { FoundSessions } from './find-sessions.js';
import type { SharedPrefixes } from './shared-prefixes.js';

/** Sessions that one client of the specification represents. */
export interface SessionGroup {
  /** Any row of the group: it has the client, tenant, class and model of all. */
  row: number;
  /** Several clients with few requests each: only class and model are the same. */
  isMixed: boolean;
  /** Index into the shared prefixes. */
  prefix: number;
  /** The name of its client in the specification. */
  id: string;
  chats: number[];
  /** A single session of several turns: far longer than the others, or the only one of its kind. */
  isOneChat: boolean;
}

/** Sessions of 1, 2 to 3, 4 to 7 and more turns differ in more than their number of turns. */
const TURN_CLASSES = [1, 2, 4, 8];
/** A class with fewer sessions joins the one below. */
const LEAST_CHATS = 30;
/** Long sessions get a client each until chance changes the number of requests by at most this share ... */
const CHANCE = 0.02;
/** ... or no session is left with this many times the turns of the others; at most this many. */
const OUTLIER = 4;
const MOST_LONG_CHATS = 32;

/** Divides the sessions of a trace among the clients of its specification. */
export function sessionGroups(table: RequestTable, chats: FoundSessions, prefixes: SharedPrefixes): SessionGroup[] {
  const long = longChats(chats);
  const byTraffic = new Map<string, number[]>();
  const { labels, mixed } = clientLabels(table);
  for (let chat = 0; chat < chats.count; chat++) {
    if (long.has(chat)) continue;
    const row = chats.rows[chats.begin[chat]!]!;
    const key = `${labels[row]}/${prefixes.ofRow[row]}`;
    const members = byTraffic.get(key);
    if (members === undefined) byTraffic.set(key, [chat]);
    else members.push(chat);
  }
  const groups: SessionGroup[] = [];
  const add = (members: number[], kind: string) => {
    const row = chats.rows[chats.begin[members[0]!]!]!;
    const isOneChat = members.length === 1 && turnsOf(chats, members[0]!) > 1;
    const isMixed = mixed.has(labels[row]!);
    const id = `${isMixed ? 'others' : clientName(table, row)}${isOneChat ? '/chat' : kind}`;
    const taken = groups.filter((group) => group.id === id || group.id.startsWith(`${id}#`)).length;
    const unique = taken === 0 ? id : `${id}#${taken + 1}`;
    groups.push({ row, isMixed, prefix: prefixes.ofRow[row]!, id: unique, chats: members, isOneChat });
  };
  for (const members of byTraffic.values()) {
    for (const [least, ofClass] of turnClasses(chats, members))
      add(ofClass, least === 1 ? '' : `/chats-${least}-turns-up`);
  }
  for (const chat of long) add([chat], '');
  return groups;
}

export function turnsOf(chats: FoundSessions, chat: number): number {
  return chats.begin[chat + 1]! - chats.begin[chat]!;
}

/** The longest sessions, as far as leaving them to chance would change the traffic from seed to seed. */
function longChats(chats: FoundSessions): Set<number> {
  const byTurns = Array.from({ length: chats.count }, (_, chat) => chat);
  byTurns.sort((a, b) => turnsOf(chats, b) - turnsOf(chats, a) || a - b);
  let turns = chats.rows.length;
  let squares = byTurns.reduce((sum, chat) => sum + turnsOf(chats, chat) ** 2, 0);
  const long = new Set<number>();
  for (const chat of byTurns.slice(0, MOST_LONG_CHATS)) {
    const own = turnsOf(chats, chat);
    const others = chats.count - long.size;
    if (Math.sqrt(squares) <= CHANCE * chats.rows.length || own <= OUTLIER * (turns / others)) break;
    long.add(chat);
    turns -= own;
    squares -= own * own;
  }
  return long;
}

/** Sessions by the least number of turns of their class. */
function turnClasses(chats: FoundSessions, members: readonly number[]): Map<number, number[]> {
  const classes = TURN_CLASSES.map((): number[] => []);
  for (const chat of members) {
    let index = TURN_CLASSES.length - 1;
    while (turnsOf(chats, chat) < TURN_CLASSES[index]!) index--;
    classes[index]!.push(chat);
  }
  for (let index = classes.length - 1; index > 1; index--) {
    if (classes[index]!.length >= LEAST_CHATS) continue;
    classes[index - 1]!.push(...classes[index]!);
    classes[index] = [];
  }
  const found = new Map<number, number[]>();
  classes.forEach((chatsOfClass, index) => {
    if (chatsOfClass.length > 0) found.set(TURN_CLASSES[index]!, chatsOfClass);
  });
  return found;
}
