import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { FILE_FORMATS, schemaDocument, schemaFiles } from '../src/cli/schema/schema-documents.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const validators = new Map<string, ValidateFunction>();
beforeAll(async () => {
  for (const format of FILE_FORMATS) {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, formats: { 'date-time': true, password: true } });
    validators.set(format.name, ajv.compile(await schemaDocument(format)));
  }
});

type Document = Readonly<Record<string, unknown>>;

/** The format that a document of the examples or the documentation is written in; null for trace headers and files of other programs. */
function formatOf(document: Document): string | null {
  const has = (...keys: string[]) => keys.some((key) => Object.hasOwn(document, key));
  // Objects of Kubernetes and values of the chart are checked by a cluster: test/deploy-kube.test.ts.
  if (has('trace_version', 'scrape_configs', 'secretsKey')) return null;
  if (has('apiVersion')) return String(document.apiVersion).startsWith('twinyard/') ? 'resources' : null;
  if (has('per_gpu_hour')) return 'prices';
  if (has('kind')) return 'experiment';
  if (has('version')) return 'workload';
  if (has('routing-policy')) return 'variant';
  return has('routing', 'admission', 'flow_control', 'tenant_budgets') ? 'policy' : 'config';
}

function problemsOf(text: string): string[] {
  return parseAllDocuments(text).flatMap((parsed) => {
    const document = parsed.toJS() as Document | null;
    const format = document === null ? null : formatOf(document);
    if (format === null) return [];
    const validate = validators.get(format)!;
    if (validate(document)) return [];
    return validate.errors!.map(({ instancePath, message }) => `${format} ${instancePath}: ${message}`);
  });
}

const yamlFiles = readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => join('examples', name));

const yamlBlocks = ['docs', 'examples', '.'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) => {
      const path = join(folder, name);
      const blocks = readFileSync(join(ROOT, path), 'utf8').matchAll(/^```ya?ml\n(.*?)^```/gms);
      return [...blocks].map((match, i): [string, string] => [`${path}, block ${i + 1}`, match[1]!]);
    }),
);

describe('schemas/', () => {
  it('are as the code has them: run node scripts/generate-docs.mjs', async () => {
    const files = await schemaFiles();
    expect(readdirSync(join(ROOT, 'schemas')).sort()).toEqual([...files.keys()].sort());
    for (const [name, text] of files)
      expect(readFileSync(join(ROOT, 'schemas', name), 'utf8') === text, name).toBe(true);
  });

  it('are in the package', () => {
    expect(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).files).toContain('schemas');
  });

  it.each(yamlFiles.filter((name) => !name.includes('broken')))('accept %s', (path) => {
    expect(problemsOf(readFileSync(join(ROOT, path), 'utf8'))).toEqual([]);
  });

  it.each(yamlBlocks)('accept %s', (_, text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  it('refuse mistakes', () => {
    expect(problemsOf(readFileSync(join(ROOT, 'examples/broken-endpoint.yaml'), 'utf8'))).not.toEqual([]);
    expect(problemsOf('listen: { prot: 1 }')).toEqual([expect.stringContaining('additional properties')]);
    expect(problemsOf('version: "2"\nrate: 5')).not.toEqual([]);
    expect(problemsOf('routing-policy: wieghted')).not.toEqual([]);
  });

  it('accept $schema in every format', () => {
    for (const [format, validate] of validators) {
      const problems = validate({ $schema: 'x.json' }) ? [] : validate.errors!.map(({ message }) => message);
      expect(problems.join(), format).not.toContain('additional properties');
    }
  });
});
