import type { AdmissionPolicy, RoutingPolicy, Scorer } from '../../policy/contract.js';
import { policyOptions } from '../../policy/policy-options.js';
import { ADMISSION_POLICIES, ROUTING_POLICIES } from '../../policy/registry.js';
import { SCORERS } from '../../policy/scoring/registry.js';
import { factsOf, type Schema } from '../../schema/facts.js';
import { admissionFlags } from '../config/resolve-admission.js';
import { code, madeFrom, markdownTable, plain } from './markdown.js';
import { optionTable } from './option-table.js';
import { readsTable } from './reads-table.js';

type Described = Pick<Scorer, 'name' | 'summary' | 'goodFor' | 'notFor' | 'formula'>;

/** A page per routing policy, admission policy and scorer, by file name, and one that lists them all. */
export function policyPages(): Map<string, string> {
  const pages = new Map([['README.md', indexPage()]]);
  for (const policy of ROUTING_POLICIES) pages.set(`${policy.name}.md`, routingPage(policy));
  for (const policy of ADMISSION_POLICIES) pages.set(`${policy.name}.md`, admissionPage(policy));
  for (const scorer of SCORERS) pages.set(`${scorer.name}.md`, scorerPage(scorer));
  return pages;
}

function indexPage(): string {
  const list = (described: readonly Described[]) =>
    markdownTable([
      ['name', 'what it does'],
      ...described.map(({ name, summary }) => [`[${code(name)}](${name}.md)`, plain(summary)]),
    ]);
  return `${madeFrom('src/policy')}
# Policies and scorers

Everything that can be chosen by name. How they work together is explained in [admission](../admission.md) and
[routing](../routing.md); the names of the gateway queue are in [flow control](../flow-control.md).

## Routing policies

\`--routing-policy\` chooses one; the default is \`round-robin\`.

${list(ROUTING_POLICIES)}
## Admission policies

\`--admission-policy\` chooses one; the default is \`always-admit\`.

${list(ADMISSION_POLICIES)}
## Scorers

\`--routing-scorers\` lists those that the policy [\`weighted\`](weighted.md) adds up, each with its weight.

${list(SCORERS)}`;
}

function routingPage(policy: RoutingPolicy): string {
  const options = policyOptions(policy, {}, policy.name);
  // Only a policy that looks at its options declares the parameter.
  const dependsOnOptions = policy.reads.length > 0;
  const places = (option: string) =>
    option === 'scorers'
      ? { flag: 'routing-scorers', fileKey: 'routing.scorers' }
      : { flag: option === 'tie_break' ? 'tie-break' : undefined, fileKey: `routing.options.${option}` };
  return `${opening(policy, 'Routing policy', 'routing', 'routing')}
## What it reads

${dependsOnOptions ? 'With its default options:\n\n' : ''}${readsTable(policy.reads(options))}
## Options

${optionTable(policy.options, places)}
## Try it

\`\`\`bash
twinyard replay --trace examples/assistants --model qwen/qwen3-14b --num-instances 4 --routing-policy ${policy.name} --format table
\`\`\`
`;
}

function admissionPage(policy: AdmissionPolicy): string {
  const places = (option: string) => ({
    flag: admissionFlags(policy.name)[option],
    fileKey: `admission.${factsOf((policy.options as Record<string, Schema>)[option]!).fileKey ?? `options.${option}`}`,
  });
  return `${opening(policy, 'Admission policy', 'admission', 'admission')}
## What it reads

${readsTable(policy.reads(policyOptions(policy, {}, policy.name)))}
## Options

${optionTable(policy.options, places)}
## Try it

\`\`\`bash
twinyard replay --trace examples/small-trace --model qwen/qwen3-14b --admission-policy ${policy.name} --format table
\`\`\`
`;
}

function scorerPage(scorer: Scorer): string {
  const beside = scorer.name === 'queue-depth' ? 'kv-utilization' : 'queue-depth';
  return `${opening(scorer, 'Scorer of the policy [`weighted`](weighted.md)', 'scoring', 'routing')}
## What it reads

${readsTable(scorer.reads)}
## Try it

\`\`\`bash
twinyard replay --trace examples/assistants --model qwen/qwen3-14b --num-instances 4 --routing-policy weighted --routing-scorers ${scorer.name}:2,${beside}:1 --format table
\`\`\`
`;
}

function opening(described: Described, kind: string, folder: string, guide: string): string {
  const { name, summary, goodFor, notFor, formula } = described;
  const source = `src/policy/${folder}/${name}.ts`;
  return `${madeFrom(source)}
# ${code(name)}

${plain(summary)}

${kind}; the [guide](../${guide}.md) shows it at work, and [all policies](README.md) are listed together.
The code is in [${source}](../../${source}).

## Rule

\`\`\`text
${formula}
\`\`\`

## When to use it

**Good for.** ${plain(goodFor)}

**Not for.** ${plain(notFor)}
`;
}
