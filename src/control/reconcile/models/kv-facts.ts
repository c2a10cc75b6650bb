import type { ResourceRecord } from '../../../store/resources/resource-record.js';
import { describeModel } from '../../models/describe-model.js';
import { folderSource } from '../../models/description/model-source.js';
import { isModelProblem } from '../../models/errors.js';
import { kvCapacity } from '../../models/kv-capacity.js';
import { MEMORY_FRACTIONS, numberVariable } from '../../resources/fit/planned-use.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import { isProduct } from '../../runner/gpu-demand.js';
import type { FetchedModel } from './model-state.js';

interface Accelerator {
  readonly product: string;
  readonly memory_mib: number | null;
}

type Facts = Readonly<Record<string, unknown>>;

const USUAL_UTILISATION = 0.9;

/** How much context a replica can hold on its GPUs; computed again only when the inputs change. */
export class KvFacts {
  #key = '';
  #facts: Facts = {};

  /** Empty without GPUs, and where their memory is not known. */
  async of({ facts, revision }: FetchedModel, spec: EndpointSpec, cluster: ResourceRecord | null): Promise<Facts> {
    const { gpus, product = null } = spec.resources;
    if (gpus === 0) return {};
    const accelerators = (cluster?.status?.accelerators ?? []) as readonly Accelerator[];
    const memory = accelerators.find((one) => isProduct(one, product))?.memory_mib ?? null;
    if (memory === null) return {};
    const given = numberVariable(spec.variables, MEMORY_FRACTIONS)?.value;
    const utilisation = given ?? (gpus < 1 ? gpus : USUAL_UTILISATION);
    const key = JSON.stringify([facts.folder, revision, gpus, memory, utilisation]);
    if (key === this.#key) return this.#facts;
    this.#facts = await kvFacts(String(facts.folder), spec, memory, utilisation);
    this.#key = key;
    return this.#facts;
  }
}

async function kvFacts(
  folder: string,
  { model, resources }: EndpointSpec,
  memory: number,
  utilisation: number,
): Promise<Facts> {
  try {
    const described = await describeModel(await folderSource(folder), model.name);
    const gpus = Math.max(1, resources.gpus);
    const capacity = kvCapacity(described.spec, { memoryGiB: memory / 1024, gpus, utilisation });
    return { kv_cache_tokens: capacity.tokens, kv_cache_blocks: capacity.blocks, max_model_len: capacity.maxModelLen };
  } catch (error) {
    if (!isModelProblem(error)) throw error;
    return { kv_problem: error.message };
  }
}
