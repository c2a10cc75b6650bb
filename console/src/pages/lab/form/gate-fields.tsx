import { policyWord, readPolicy } from '../../../parts/policy-options';
import type { LabSearch } from '../../../shell/router';
import type { LabChoices } from '../lab-document';
import { Choice } from './fields';
import { type LabForm, QUEUE } from './lab-question';
import { hasOptions, OptionForm } from './option-form';

interface GateProps {
  readonly choices: LabChoices;
  readonly form: LabForm;
  readonly set: (change: LabSearch) => void;
}

/** What stands before routing: which requests are admitted, and a queue. Open where either is set. */
export function GateFields({ choices, form, set }: GateProps) {
  const admission = form.admission === undefined ? null : readPolicy(form.admission);
  const known = choices.admission.find(({ name }) => name === admission?.name);
  const isSet = admission !== null || form.queue !== undefined;
  return (
    <details className="lab-gate" open={isSet ? true : undefined}>
      <summary>Admission and queue</summary>
      <div className="question">
        <Choice
          label="Admission"
          value={admission?.name ?? ''}
          values={choices.admission.map(({ name }) => name).filter((name) => name !== 'always-admit')}
          none="All requests"
          onChange={(name) => set({ admission: name === '' ? undefined : name })}
        />
        <Choice
          label="Queue before routing"
          value={form.queue === undefined ? '' : QUEUE}
          values={[QUEUE]}
          none="None"
          shown={() => 'While saturated'}
          onChange={(name) => set({ queue: name === '' ? undefined : name })}
        />
      </div>
      {admission === null || known === undefined || !hasOptions(known.options) ? null : (
        <fieldset className="lab-options">
          <legend>Options of {known.name}</legend>
          <OptionForm
            schema={known.options}
            value={admission.options}
            onChange={(options) => set({ admission: policyWord({ name: known.name, options }) })}
          />
        </fieldset>
      )}
      {form.queue === undefined ? null : (
        <fieldset className="lab-options">
          <legend>Settings of the queue</legend>
          <OptionForm
            schema={choices.flow_control}
            value={readPolicy(form.queue).options}
            onChange={(options) => set({ queue: policyWord({ name: QUEUE, options }) })}
          />
        </fieldset>
      )}
    </details>
  );
}
