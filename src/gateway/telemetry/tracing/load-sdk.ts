import { readFileSync } from 'node:fs';
import { packagePath } from '../../../files/package-path.js';
import { InputError } from '../../../kernel/errors.js';

/** The packages of OpenTelemetry's SDK. They are as large as all else together, so they are installed only for tracing. */
const PACKAGES = {
  api: () => import('@opentelemetry/api'),
  sdk: () => import('@opentelemetry/sdk-trace-node'),
  exporter: () => import('@opentelemetry/exporter-trace-otlp-http'),
  resources: () => import('@opentelemetry/resources'),
};

type Loaded = { [Name in keyof typeof PACKAGES]: Awaited<ReturnType<(typeof PACKAGES)[Name]>> };

/** Loads the SDK. Throws an InputError with the command that installs it where it is missing. */
export async function loadSdk(packages: typeof PACKAGES = PACKAGES): Promise<Loaded> {
  try {
    const [api, sdk, exporter, resources] = await Promise.all([
      packages.api(),
      packages.sdk(),
      packages.exporter(),
      packages.resources(),
    ]);
    return { api, sdk, exporter, resources };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const problem = 'the OpenTelemetry SDK is not installed';
    throw new InputError('TRACING_NOT_INSTALLED', 'tracing', problem, `run '${installCommand()}'`);
  }
}

/** For the way this program was installed: globally, or into a project. */
function installCommand(): string {
  const { peerDependencies } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
    peerDependencies: Record<string, string>;
  };
  const names = Object.entries(peerDependencies).map(([name, range]) => `${name}@${range.replace('^', '')}`);
  const isGlobal = /[\\/]lib[\\/]node_modules[\\/]twinyard$/.test(packagePath());
  return `npm install ${isGlobal ? '-g ' : ''}${names.join(' ')}`;
}
