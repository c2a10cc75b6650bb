import { InputError } from '../../kernel/errors.js';

const HINTS: Readonly<Record<string, string>> = {
  WHATIF_TOO_FEW: 'let the gateway record for longer, or choose a longer time with --last',
  WHATIF_NO_PROFILE: 'name a model and a GPU of the catalogue with --model, --hardware and --tp',
  TWIN_UNKNOWN_ENGINE: 'name a model and a GPU of the catalogue with --model, --hardware and --tp',
};

interface Called {
  readonly workspace: string;
  readonly name: string;
}

/** An error of a question about an endpoint in the words of the command line. @param url of the gateway */
export function explainedQuestion(error: unknown, { name, workspace }: Called, url: string): unknown {
  if (!(error instanceof InputError)) return error;
  const { code, place, problem } = error;
  if (code === 'API_ENDPOINT') {
    const hint = "'twinyard get endpoints' lists those that are";
    return new InputError(code, '--endpoint', `${workspace}/${name} is not served by ${url}`, hint);
  }
  return code in HINTS ? new InputError(code, place, problem, HINTS[code]!) : error;
}
