import { useState } from 'react';
import type { LiveEndpoint } from '../../api/types';
import { Button, Card } from '../../parts/basics';
import { differencesOf } from '../../parts/differences';
import type { PolicyFacts } from '../../parts/policy-picker';
import { changedPart, type Path } from '../../parts/schema-form/json-schema';
import { SchemaForm } from '../../parts/schema-form/schema-form';
import { SwapPolicy } from '../../parts/swap-policy';

export interface PolicyChoice extends PolicyFacts {
  readonly good_for: string;
  readonly not_for: string;
  readonly formula: string;
}

interface Wanted {
  readonly policy: string;
  readonly options: Readonly<Record<string, unknown>>;
}

interface SwapFormProps {
  readonly base: string;
  readonly endpoint: LiveEndpoint;
  readonly choices: readonly PolicyChoice[];
}

/** Another routing policy, or other options of the present one: chosen, previewed, then served. */
export function SwapForm({ base, choices, endpoint }: SwapFormProps) {
  const { options = {}, policy = '' } = endpoint.policy.routing ?? {};
  const present: Wanted = { policy, options };
  const [draft, setDraft] = useState<Wanted | null>(null);
  const wanted = draft ?? present;
  const choice = choices.find(({ name }) => name === wanted.policy);
  const isSame = differencesOf(present, wanted).length === 0;
  const set = (path: Path, value: unknown) =>
    setDraft({ ...wanted, options: changedPart(wanted.options, path, value) as Wanted['options'] });
  return (
    <Card title="Swap">
      <div className="form padded">
        <label className="field">
          <span>Routing policy</span>
          <select
            value={wanted.policy}
            onChange={({ target }) => setDraft(target.value === policy ? null : { policy: target.value, options: {} })}
          >
            {choices.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {choice === undefined ? null : (
          <>
            <p className="muted">
              {choice.summary} Good for: {choice.good_for} Not for: {choice.not_for}
            </p>
            {Object.keys(choice.options.properties ?? {}).length === 0 ? (
              <p className="muted">It has no options.</p>
            ) : (
              <fieldset className="policy-options">
                <legend>Options of {choice.name}</legend>
                <SchemaForm
                  key={choice.name}
                  schema={choice.options}
                  value={wanted.options}
                  host={{ set, isReadOnly: false, suggestions: {} }}
                />
              </fieldset>
            )}
          </>
        )}
        <div className="choices">
          <SwapPolicy
            base={base}
            endpoint={endpoint}
            policy={isSame ? null : wanted.policy}
            options={wanted.options}
            label="Preview the swap"
            onDone={() => setDraft(null)}
          />
          {draft === null ? null : <Button onClick={() => setDraft(null)}>Reset</Button>}
        </div>
      </div>
    </Card>
  );
}
