import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { textsOf, titlesOf } from './support/source-strings.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Words that need translating, and what is written instead. */
const WORDS: readonly [word: RegExp, instead: string][] = [
  [/\b(?:some|no|any|every)body\b/i, 'the operator, a client, no request, ...'],
  [/\bwho(?:ever|soever)\b/i, 'the client that, a process that, ...'],
  [/\b(?:he|she|his|him|himself|herself)\b/i, 'the operator, the client, ...'],
  [/\bremed(?:y|ies)\b/i, 'hint'],
  [/\bkeepers?\b/i, 'operator'],
  [/\bkept true\b/i, 'reconciled'],
  [/\bwish(?:ed|es)?\b/i, 'desired state'],
  [/\btoys?\b/i, 'fixture'],
  [/\btext of (?:a|the) key\b/i, 'secret'],
  [/\bits text\b/i, 'its secret, its content'],
  [/\bdoes not answer\b/i, 'does not respond'],
  [/\banswers? (?:with|of|to)\b/i, 'response'],
  [/\b(?:is|are|was|were) told\b/i, 'is reported, receives'],
  [/\bmay ask\b/i, 'may request'],
  [/\basked to go\b/i, 'deleted'],
  [/\bgive(?:n|s)? back\b/i, 'return'],
  [/\bmake it so\b/i, 'apply'],
];

/** Words of code and result keys that pages do not use in sentences. */
const PAGE_WORDS: readonly [word: RegExp, instead: string][] = [
  ...WORDS,
  [/(?<!--trace-)\banswer(?:s|ed)?\b/i, 'response, responded'],
  [/(?<!`)\bchats\b/i, 'sessions'],
];

/** Further ones for comments and test titles. */
const CODE_WORDS: typeof WORDS = [
  [/\bnewcomers?\b/i, 'new replica, joining gateway'],
  [/\bhears?\b/i, 'called with, receives'],
  [/\banew\b/i, 'again'],
  [/\blet in\b/i, 'admitted'],
  [/\bin whatever\b/i, 'in any'],
];

const files = (folder: string, isWanted: (name: string) => boolean) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(isWanted)
    .map((name) => join(folder, name));

function found(text: string, place: string, words = WORDS): string[] {
  return words.flatMap(([word, instead]) => {
    const match = word.exec(text);
    return match === null ? [] : [`${place}: '${match[0]}' in "${text.trim().slice(0, 100)}"; write ${instead}`];
  });
}

describe('plain words', () => {
  test('every message, help text and metric of the program', () => {
    const sources = files('src', (name) => name.endsWith('.ts') && !/\.(?:test|fixture|contract)\.ts$/.test(name));
    expect(sources.length).toBeGreaterThan(500);
    const problems = sources.flatMap((path) =>
      textsOf(readFileSync(join(ROOT, path), 'utf8')).strings.flatMap(({ line, text }) =>
        found(text, `${path}:${line}`),
      ),
    );
    expect(problems).toEqual([]);
  });

  test('every comment and test title', () => {
    const sources = ['src', 'test', 'bench'].flatMap((folder) => files(folder, (name) => name.endsWith('.ts')));
    const problems = sources.flatMap((path) => {
      const source = readFileSync(join(ROOT, path), 'utf8');
      const texts = [...textsOf(source).comments, ...(/\.(?:test|contract)\.ts$/.test(path) ? titlesOf(source) : [])];
      return texts.flatMap(({ line, text }) => found(text, `${path}:${line}`, [...WORDS, ...CODE_WORDS]));
    });
    expect(problems).toEqual([]);
  });

  test('every page of the documentation and every example', () => {
    const pages = [
      ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
      ...files('docs', (name) => name.endsWith('.md')),
      ...files('examples', (name) => /\.(?:md|yaml|sh)$/.test(name) && !name.includes('node_modules')),
    ];
    const problems = pages.flatMap((path) =>
      readFileSync(join(ROOT, path), 'utf8')
        .split('\n')
        .flatMap((line, i) => found(line, `${relative('.', path)}:${i + 1}`, PAGE_WORDS)),
    );
    expect(problems).toEqual([]);
  });

  test('pages for users say what a capability is for, not where it came from', () => {
    const pages = ['README.md', ...files('docs', (name) => name.endsWith('.md'))];
    const problems = pages.filter((path) =>
      /\bseed 00\d\b|\bseeds'|\bthe seeds\b(?! of)/i.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(problems).toEqual([]);
  });

  test('a forbidden word is found', () => {
    const { strings, comments } = textsOf("// nobody listens\nconst a = 'it is told'; /* kept true */\n");
    expect([...comments, ...strings].flatMap(({ line, text }) => found(text, `x.ts:${line}`))).toHaveLength(3);
    expect(titlesOf("it('is a title', async () => {});")).toEqual([{ line: 1, text: 'is a title' }]);
    expect(found('nobody listens there', 'x.ts:1')).toHaveLength(1);
    expect(found('chats wait for answers', 'x.md:1', PAGE_WORDS)).toHaveLength(2);
    expect(found("port 80 is already in use: choose another with '--port'", 'x.ts:1')).toEqual([]);
  });
});
