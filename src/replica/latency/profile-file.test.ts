import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadModel } from '../catalogue/model-catalogue.js';
import { fakeProfile } from './fake-profile.fixture.js';
import { parseProfile, profileText, readProfile } from './profile-file.js';

const GOOD = profileText(fakeProfile());
const parse = (text: string) => parseProfile(text, 'p.json');
/** The text with one part replaced. */
const changed = (piece: string | RegExp, by: string) => {
  expect(GOOD).toMatch(piece);
  return GOOD.replace(piece, by);
};

/** The text with one more cost of steps. */
const withPart = (name: string, value: string) => changed('"request_us": 32', `"${name}": ${value}, "request_us": 32`);
const slowdown = (share: string, tokenUs: string, overUs: string) =>
  `{ "share": ${share}, "token_us": ${tokenUs}, "over_us": ${overUs} }`;

describe('a profile in a file', () => {
  it('is read as it was written, with any content of its fit', () => {
    expect(parse(GOOD)).toEqual(fakeProfile());
    expect(parse(profileText(fakeProfile(), { notes: ['good'], medianAbs: 0.1 }))).toEqual(fakeProfile());
    const launch = { aboveTokens: 512, us: 9000, firstUs: 800 };
    const host = { stepUs: 140, promptUs: 50, promptTokenUs: 0.15 };
    const slowdown = { share: 0.09, tokenUs: 22.2, overUs: 50_000 };
    const scheduler = { engineRules: 'vllm-v1', blockSize: 16, totalKvBlocks: 99 };
    const full = { ...fakeProfile({ launch, host, slowdown }), scheduler };
    expect(parse(profileText(full))).toEqual(full);
  });

  it('holds the dimensions of its model and GPU', () => {
    for (const name of ['qwen3-14b', 'mixtral-8x7b-v0.1']) {
      const { name: _, ...model } = loadModel(name);
      const profile = { ...fakeProfile(), dimensions: { model, gpu: { memoryGib: 80 } } };
      expect(parse(profileText(profile))).toEqual(profile);
      const bare = { ...fakeProfile(), dimensions: { model: { ...model, headDim: null, activation: '' } } };
      expect(parse(profileText(bare))).toEqual(bare);
    }
    const gpu = { ...fakeProfile(), dimensions: { gpu: { memoryGib: 24 } } };
    expect(parse(profileText(gpu))).toEqual(gpu);
  });

  it('shows a point of a curve on one line, and six digits', () => {
    const text = profileText(fakeProfile({ requestUs: 1 / 3 }), { data: [{ heldOut: 1e-9 / 3 }] });
    expect(text).toContain('{ "tokens": 11, "us": 1100 }');
    expect(text).toContain('"request_us": 0.333333');
    expect(text).toContain('"held_out": 3.33333e-10');
    expect(text.endsWith('}\n')).toBe(true);
  });

  it('may be YAML', () => {
    expect(parse(GOOD.replace(/"(\w+)":/g, '$1:'))).toEqual(fakeProfile());
  });

  it('need not have the extra time of a fresh engine', () => {
    const full = fakeProfile({ launch: { aboveTokens: 512, us: 9000, firstUs: 0 } });
    const text = profileText(full).replace(/,\s+"first_us": 0/, '');
    expect(text).not.toContain('first_us');
    expect(parse(text)).toEqual(full);
  });

  it('need not have the settings of the engine', () => {
    expect(parse(changed(/,\s+"scheduler": \{\}/, '')).scheduler).toEqual({});
  });

  it('is read from where it is', () => {
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-profile-'));
    writeFileSync(join(folder, 'p.json'), GOOD);
    expect(readProfile(join(folder, 'p.json'))).toEqual(fakeProfile());
    rmSync(folder, { recursive: true });
    expect(() => readProfile(join(folder, 'p.json'))).toThrow(
      expect.objectContaining({ code: 'FILE_NOT_READABLE', message: expect.stringContaining('no such file') }),
    );
  });
});

describe('a profile that is wrong', () => {
  it.each([
    ['', 'BAD_PROFILE', "p.json: holds no keys; start with 'version: 1'"],
    ['{', 'BAD_PROFILE', /^p\.json:1:\d+: /],
    [changed('"version": 1', '"version": 2'), 'BAD_PROFILE', 'p.json:2:14 (version): 2 is too large'],
    [changed('"name": "tiny",', ''), 'BAD_PROFILE', /\(name\): is missing; give text/],
    [changed('"tp": 1', '"tp": 0'), 'BAD_PROFILE', /\(tp\): 0 is too small/],
    [changed('"request_us": 32', '"request_us": -1'), 'BAD_PROFILE', /\(step\.request_us\): -1 is too small/],
    [changed('"request_us": 32', '"request_us": "x"'), 'BAD_PROFILE', /'x' is not a number/],
    [changed('"shared_context": 0.75', '"shared_context": 1.5'), 'BAD_PROFILE', /1\.5 is too large/],
    [changed('"queueing_us": 100', '"queueing_us": 0.5'), 'BAD_PROFILE', /0\.5 is not a whole number/],
    [changed('"decode_only"', '"decode_onyl"'), 'UNKNOWN_PROFILE_KEY', /unknown key 'decode_onyl'; did you mean/],
    [changed('"tokens": 11', '"tokens": 1'), 'BAD_PROFILE', /\(step\.decode_only\[1\]\.tokens\): does not exceed/],
    [changed('"tokens": 101', '"tokens": 0.5'), 'BAD_PROFILE', /0\.5 is not a whole number/],
    [
      withPart('host', '{ "step_us": -1, "prompt_us": 0, "prompt_token_us": 0 }'),
      'BAD_PROFILE',
      /\(step\.host\.step_us\): -1 is too small/,
    ],
    [
      withPart('host', '{ "step_us": 1, "prompt_us": 0 }'),
      'BAD_PROFILE',
      /\(step\.host\.prompt_token_us\): is missing; give/,
    ],
    [withPart('host', '150'), 'BAD_PROFILE', /\(step\.host\): .*give its keys: step_us, prompt_us, prompt_token_us/],
    [withPart('host', '{ "step": 1 }'), 'UNKNOWN_PROFILE_KEY', /unknown key 'step'; known: step_us, prompt_us/],
    [withPart('slowdown', slowdown('1.5', '20', '5e4')), 'BAD_PROFILE', /\(step\.slowdown\.share\): 1\.5 is too large/],
    [withPart('slowdown', slowdown('0.1', '0', '5e4')), 'BAD_PROFILE', /\(step\.slowdown\.token_us\): 0 is too small/],
    [withPart('slowdown', slowdown('0.1', '20', '0')), 'BAD_PROFILE', /\(step\.slowdown\.over_us\): 0 is too small/],
    [
      withPart('slowdown', slowdown('null', '20', '5e4')),
      'BAD_PROFILE',
      /\(step\.slowdown\.share\): .*give a number from 0 to 1/,
    ],
    [changed('"scheduler": {}', '"scheduler": { "engine_rules": "vllm-v2" }'), 'BAD_PROFILE', /did you mean 'vllm-v1'/],
  ])('is refused with its line (%#)', (text, code, message) => {
    let error: Error & { code?: string } = new Error('accepted');
    try {
      parse(text);
    } catch (caught) {
      error = caught as Error;
    }
    expect(error).toMatchObject({ name: 'InputError', code });
    expect(error.message).toMatch(message);
  });
});
