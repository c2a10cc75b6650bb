import { getRouteApi } from '@tanstack/react-router';
import { useGet } from '../../../api/queries';
import { usePolicies } from '../../../parts/policy-picker';
import { givenSchema, type JsonSchema } from '../../../parts/schema-form/json-schema';
import { mapIn, mapText } from '../question';
import { Choice, useParameter } from './fields';
import { hasOptions, OptionForm } from './policy-fields';

const route = getRouteApi('/whatif');

/** Which requests are admitted, and where they wait. */
export function FlowFields() {
  const admissions = usePolicies('admission-policies');
  const [queue, setQueue] = useParameter('queue');
  const kind = queue === '' || queue === 'none' ? queue : 'own';
  return (
    <>
      <Choice name="admission" label="Admission policy" values={admissions.map(({ name }) => name)} none="As now" />
      <label className="field">
        <span>Queue before routing</span>
        <select value={kind} onChange={({ target }) => setQueue(target.value === 'own' ? '{}' : target.value)}>
          <option value="">As now</option>
          <option value="none">None</option>
          <option value="own">With these settings</option>
        </select>
      </label>
    </>
  );
}

/** Settings of both, where they are not as now. */
export function FlowOptionFields() {
  const { admission, queue } = route.useSearch();
  const admissions = usePolicies('admission-policies');
  const [admissionOptions, setAdmissionOptions] = useParameter('admission_options');
  const [, setQueue] = useParameter('queue');
  const queueSchema = useQueueSchema();
  const chosen = admissions.find(({ name }) => name === admission);
  return (
    <>
      {chosen === undefined || !hasOptions(chosen.options) ? null : (
        <OptionForm
          startsOpen
          title={`Options of ${chosen.name}`}
          schema={chosen.options}
          value={mapIn(admissionOptions)}
          onChange={(next) => setAdmissionOptions(mapText(next) ?? '')}
        />
      )}
      {queue === undefined || queue === 'none' || queueSchema === null ? null : (
        <OptionForm
          startsOpen
          title="Settings of the queue"
          schema={queueSchema}
          value={mapIn(queue)}
          onChange={(next) => setQueue(JSON.stringify(next))}
        />
      )}
    </>
  );
}

/** The settings of a queue that nothing sets; null while they are not known. */
export function useStandardQueue(): Readonly<Record<string, unknown>> | null {
  const schema = useQueueSchema();
  if (schema === null) return null;
  const settings = Object.entries(schema.properties ?? {}).map(([key, { default: usual }]) => [key, usual]);
  return Object.fromEntries(settings.filter(([, usual]) => usual !== undefined));
}

/** As an Endpoint has it. */
function useQueueSchema(): JsonSchema | null {
  const { data } = useGet<{ readonly schema: JsonSchema }>('kinds/endpoints', { isFixed: true });
  return data === undefined ? null : queueIn(data.schema);
}

function queueIn(schema: JsonSchema): JsonSchema | null {
  const queue = (schema.properties?.spec ?? schema).properties?.flow_control;
  return queue === undefined ? null : givenSchema(queue);
}
