import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAB_LIMITS } from './lab-question.js';
import { LabUploads } from './lab-uploads.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-uploads-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const files = () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());

describe('uploads of experiments', () => {
  it('are there after the server was killed, and what it left half written is not', async () => {
    const before = new LabUploads(folder);
    const { id } = await before.put('default', 'monday.jsonl', 'one\n');
    writeFileSync(join(folder, 'part-7'), 'half of a fi');
    utimesSync(join(folder, 'part-7'), 1, 1);
    const after = new LabUploads(folder);
    expect(after.get('default', id)).toMatchObject({ id, name: 'monday.jsonl', bytes: 4 });
    expect(after.get('other', id)).toBeUndefined();
    const held = after.hold('default', id)!;
    expect(readFileSync(held.path, 'utf8')).toBe('one\n');
    held.release();
    expect(files()).toHaveLength(1);
  });

  it('are bounded for each workspace and for all of them, also over restarts', async () => {
    for (let i = 0; i <= LAB_LIMITS.uploads; i++) await new LabUploads(folder).put('default', 'a.jsonl', `${i}`);
    expect(files()).toHaveLength(LAB_LIMITS.uploads);
    const uploads = new LabUploads(folder);
    for (let i = 0; i < LAB_LIMITS.allUploads; i++) await uploads.put(`w${i}`, 'a.jsonl', 'same');
    expect(files()).toHaveLength(LAB_LIMITS.allUploads);
  });

  it('say why they are not kept, and leave nothing', async () => {
    const uploads = new LabUploads(join(folder, 'a-file', 'below'));
    writeFileSync(join(folder, 'a-file'), '');
    await expect(uploads.put('default', 'a.jsonl', 'one')).rejects.toMatchObject({ code: 'LAB_UPLOAD_UNWRITABLE' });
    expect(files()).toHaveLength(1);
  });

  it('are shared by processes that use one folder: none takes what another one writes or reads', async () => {
    const one = new LabUploads(folder);
    const { id } = await one.put('default', 'a.jsonl', 'one');
    const held = one.hold('default', id)!;
    writeFileSync(join(folder, 'part-7'), 'half of a fi');
    const other = new LabUploads(folder);
    expect(other.get('default', id)?.id).toBe(id);
    const { id: later } = await other.put('default', 'b.jsonl', 'two');
    const second = other.hold('default', later)!;
    expect(one.get('default', later)?.id).toBe(later);
    expect([held.path, second.path].map((path) => readFileSync(path, 'utf8'))).toEqual(['one', 'two']);
    expect(readFileSync(join(folder, 'part-7'), 'utf8')).toBe('half of a fi');
    other.forget('default', Date.now() + 1000);
    expect([one.hold('default', id), one.get('default', later)]).toEqual([undefined, undefined]);
  });

  it('go with their workspace, and stay where they are of a later one of that name', async () => {
    const uploads = new LabUploads(folder);
    const [gone, other] = await Promise.all(['w', 'v'].map((name) => uploads.put(name, 'a.jsonl', 'one')));
    uploads.forget('w', Date.now() - 3_600_000);
    expect(uploads.get('w', gone!.id)?.id).toBe(gone!.id);
    uploads.forget('w', Date.now() + 1000);
    expect([uploads.get('w', gone!.id), uploads.get('v', other!.id)?.id]).toEqual([undefined, other!.id]);
    expect(files()).toHaveLength(1);
  });

  it('that were used last are the last to go', async () => {
    const uploads = new LabUploads(folder);
    const ids: string[] = [];
    for (let i = 0; i < LAB_LIMITS.uploads; i++) ids.push((await uploads.put('default', 'a.jsonl', `${i}`)).id);
    uploads.hold('default', ids[0]!)!.release();
    await uploads.put('default', 'a.jsonl', 'one more');
    expect(ids.slice(0, 2).map((id) => uploads.get('default', id)?.id)).toEqual([ids[0], undefined]);
  });

  it('that experiments need stay, and others go in their place', async () => {
    const uploads = new LabUploads(folder);
    const { id } = await uploads.put('default', 'first.jsonl', 'first');
    const inUse = [{ workspace: 'default', id }];
    for (let i = 0; i < LAB_LIMITS.uploads; i++) await uploads.put('default', 'later.jsonl', `${i}`, inUse);
    expect([uploads.get('default', id)?.id, files().length]).toEqual([id, LAB_LIMITS.uploads]);
    for (let i = 0; i < LAB_LIMITS.allUploads; i++) await uploads.put(`w${i}`, 'a.jsonl', 'same', inUse);
    expect([uploads.get('default', id)?.id, files().length]).toEqual([id, LAB_LIMITS.allUploads]);
  });

  it('stay with the experiment that reads them while others take their place', async () => {
    const uploads = new LabUploads(folder);
    const { id } = await uploads.put('default', 'first.jsonl', 'first');
    const held = uploads.hold('default', id)!;
    for (let i = 0; i < LAB_LIMITS.uploads; i++) await uploads.put('default', 'later.jsonl', `${i}`);
    expect([uploads.get('default', id), readFileSync(held.path, 'utf8')]).toEqual([undefined, 'first']);
  });
});
