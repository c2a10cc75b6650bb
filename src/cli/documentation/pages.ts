import { apiPage } from './api-page.js';
import { commandPages } from './command-pages.js';
import { gatewayPage } from './gateway-page.js';
import { metricsPage } from './metrics-page.js';
import { policyPages } from './policy-pages.js';
import { resourcePage } from './resource-page.js';
import { workloadPage } from './workload-page.js';

/** Every page of the documentation that is generated from the code, by its path inside `docs`. */
export async function generatedPages(): Promise<Map<string, string>> {
  const pages = new Map([
    ['api.md', apiPage()],
    ['gateway-keys.md', gatewayPage()],
    ['metrics.md', metricsPage()],
    ['resource-keys.md', resourcePage()],
    ['workload-keys.md', workloadPage()],
  ]);
  for (const [name, text] of await commandPages()) pages.set(`commands/${name}`, text);
  for (const [name, text] of policyPages()) pages.set(`policies/${name}`, text);
  return pages;
}
