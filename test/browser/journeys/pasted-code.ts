import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MODULES = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'node_modules');

/** As much of the package `openai` as the code uses, where Python has it not: the same call by the standard library. */
const OPENAI_STAND_IN = `import json, types, urllib.request


class OpenAI:
    def __init__(self, base_url, api_key):
        def create(**body):
            headers = {"content-type": "application/json", "authorization": "Bearer " + api_key}
            data = json.dumps(body).encode()
            request = urllib.request.Request(base_url + "/chat/completions", data=data, headers=headers)
            with urllib.request.urlopen(request) as response:
                return json.load(response, object_hook=lambda one: types.SimpleNamespace(**one))

        self.chat = types.SimpleNamespace(completions=types.SimpleNamespace(create=create))
`;

export type PastedLanguage = 'curl' | 'Python' | 'TypeScript';

/** What code prints that was copied from the playground; null, with a line that says why, where its language is not installed. */
export async function printedBy(
  language: PastedLanguage,
  code: string,
  folder: string,
  key: string,
): Promise<string | null> {
  const env = { ...process.env, API_KEY: key };
  if (language === 'curl') return (await run('bash', ['-c', `${code} -sS`], { env })).stdout;
  if (language === 'TypeScript') {
    // Its imports are found beside it, as in a project of a user.
    symlinkSync(MODULES, join(folder, 'node_modules'));
    writeFileSync(join(folder, 'pasted.mjs'), code);
    return (await run(process.execPath, [join(folder, 'pasted.mjs')], { env })).stdout;
  }
  writeFileSync(join(folder, 'pasted.py'), code);
  const hasPackage = await run('python3', ['-c', 'import openai']).then(
    () => true,
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? null : false),
  );
  if (hasPackage === null) {
    process.stderr.write('skipped: the Python code of the playground, python3 is not installed\n');
    return null;
  }
  const stand = join(folder, 'stand-in');
  if (!hasPackage) {
    mkdirSync(stand);
    writeFileSync(join(stand, 'openai.py'), OPENAI_STAND_IN);
  }
  const path = hasPackage ? {} : { PYTHONPATH: stand };
  return (await run('python3', [join(folder, 'pasted.py')], { env: { ...env, ...path } })).stdout;
}
