import { describe, expect, it } from 'vitest';
import { TraceSessions } from '../../sessions/trace-sessions.js';
import { told } from '../format.contract.js';
import { samplePath, temporaryFiles } from '../samples.fixture.js';
import { bailian } from './bailian.js';

const written = temporaryFiles();
const read = (...records: object[]) => {
  const filled = records.map((record, i) => ({
    timestamp: i,
    input_length: 5,
    output_length: 1,
    hash_ids: [],
    turn: 0,
    ...record,
  }));
  return bailian.read(written('t.jsonl', filled.map((record) => JSON.stringify(record)).join('\n')));
};
const chats = async (...records: object[]) => {
  const { rounds, sessions } = told(await read(...records));
  return sessions.map((session, row) => `${session}.${rounds[row]}`);
};

describe('bailian', () => {
  it('follows the chain of parents to the request that began the session', async () => {
    expect(told(await bailian.read(samplePath('bailian.jsonl')))).toMatchObject({
      sessions: ['10', '11', '10', '10'],
      rounds: [0, 0, 1, 2],
      clients: ['text', 'search', 'text', 'text'],
      thinkTimeUs: null,
      notes: [],
    });
  });

  it('takes the session where it is recorded', async () => {
    expect(told(await bailian.read(samplePath('b3.jsonl')))).toMatchObject({
      sessions: ['s-1', 's-2', 's-1'],
      rounds: [0, 0, 1],
    });
  });

  it('gives prompts the same blocks as far as their ids agree', async () => {
    const { blocks } = told(await bailian.read(samplePath('bailian.jsonl')));
    expect(blocks).toEqual([[0, 1], [2], [0, 3, 4], [0, 3, 5]]);
  });

  it('orders turns by their number, then by time', async () => {
    expect(
      await chats(
        { chat_id: 1, parent_chat_id: -1, turn: 1 },
        { chat_id: 2, parent_chat_id: 3, turn: 9 },
        { chat_id: 3, parent_chat_id: 1, turn: 4, timestamp: 8 },
        { chat_id: 4, parent_chat_id: 1, turn: 4, timestamp: 7 },
      ),
    ).toEqual(['1.0', '1.3', '1.2', '1.1']);
  });

  it('reads -1, null and "-1" as no parent', async () => {
    expect(
      await chats(
        { chat_id: 1, parent_chat_id: -1 },
        { chat_id: 'b', parent_chat_id: null },
        { chat_id: 3, parent_chat_id: '-1' },
      ),
    ).toEqual(['1.0', 'b.0', '3.0']);
  });

  it('keeps requests after the same missing request together, and reports it', async () => {
    const trace = await read(
      { chat_id: 1, parent_chat_id: 90, turn: 2 },
      { chat_id: 2, parent_chat_id: 1, turn: 3 },
      { chat_id: 3, parent_chat_id: 90, turn: 2 },
    );
    expect(told(trace)).toMatchObject({
      sessions: ['90', '90', '90'],
      rounds: [0, 2, 1],
      notes: ['sessions begin in the middle where the request before is not in the file: 2'],
    });
  });

  it('adds a request without a session to that of its parent, and accepts repeated ids within sessions', async () => {
    expect(await chats({ chat_id: 1, session_id: 's' }, { chat_id: 2, parent_chat_id: 1 })).toEqual(['s.0', 's.1']);
    expect(await chats({ chat_id: 1, session_id: 's' }, { chat_id: 1, session_id: 7 })).toEqual(['s.0', '7.0']);
  });

  it('handles long chains, and keeps times that go backwards', async () => {
    const records = Array.from({ length: 5000 }, (_, i) => ({
      chat_id: i,
      parent_chat_id: i + 1 < 5000 ? i + 1 : -1,
      timestamp: 5000 - i,
    }));
    const trace = await read(...records);
    expect(trace.unsorted).toBe(true);
    expect(trace.table.round[0]).toBe(4999);
    expect(new TraceSessions(trace).rounds(1)).toBe(5000);
  });
});
