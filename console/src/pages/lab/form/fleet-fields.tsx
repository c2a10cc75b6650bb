import { withQuery } from '../../../api/client';
import { useGet } from '../../../api/queries';
import type { Page } from '../../../api/types';
import { Button } from '../../../parts/basics';
import type { LabSearch } from '../../../shell/router';
import type { LabChoices } from '../lab-document';
import { Choice, Field } from './fields';
import { kindsText, type LabForm, profileText, type ReplicaKind, readKinds } from './lab-question';

interface FleetProps {
  readonly workspace: string;
  readonly choices: LabChoices;
  readonly form: LabForm;
  readonly set: (change: LabSearch) => void;
}

const ALIKE = 'alike';
const SHAPES = { [ALIKE]: 'All alike', kinds: 'Several kinds', profile: 'As measured' } as const;
const NONE: LabSearch = { kinds: undefined, profile: undefined };

/** What serves the requests: replicas of the catalogue, or as the gateway has measured those of an endpoint. */
export function FleetFields(props: FleetProps) {
  const { choices, form, set } = props;
  const { data: measured } = useProfiles(props.workspace);
  const shape = form.profile !== undefined ? 'profile' : form.kinds !== undefined ? 'kinds' : ALIKE;
  const usual = choices.models.find(({ name }) => name === form.model);
  const shapes: Record<keyof typeof SHAPES, LabSearch> = {
    [ALIKE]: NONE,
    kinds: { ...NONE, kinds: kindsText([firstKind(choices, form), firstKind(choices, form)]) },
    profile: { ...NONE, profile: measured?.[0] ?? '' },
  };
  return (
    <fieldset>
      <legend>Fleet</legend>
      <div className="segments">
        {Object.entries(SHAPES).map(([value, name]) => (
          <label key={value}>
            <input
              type="radio"
              name="shape"
              checked={shape === value}
              disabled={value === 'profile' && shape !== value && (measured ?? []).length === 0}
              title={value === 'profile' ? 'Step times that the gateway has fitted to an endpoint' : undefined}
              onChange={() => set(shapes[value as keyof typeof SHAPES])}
            />
            <span>{name}</span>
          </label>
        ))}
      </div>
      <div className="question">
        {shape === 'profile' ? (
          <Choice
            label="Endpoint and engine"
            value={form.profile!}
            values={measured ?? []}
            onChange={(profile) => set({ profile })}
          />
        ) : (
          <Choice
            label="Model"
            value={form.model}
            values={choices.models.map(({ name }) => name)}
            onChange={(model) => set({ model })}
          />
        )}
        {shape === 'kinds' ? null : (
          <Field
            label="Replicas"
            value={form.replicas}
            most={choices.limits.replicas}
            onChange={(replicas) => set({ replicas })}
          />
        )}
        {shape === ALIKE ? (
          <>
            <Choice
              label="GPU"
              value={form.hardware ?? ''}
              values={choices.hardware}
              none={usual?.hardware == null ? 'As usual' : `As usual: ${usual.hardware}`}
              onChange={(hardware) => set({ hardware })}
            />
            <Field
              label="GPUs of a replica"
              value={form.tp ?? ''}
              placeholder={usual?.tp == null ? 'as usual' : `as usual: ${usual.tp}`}
              most={64}
              onChange={(tp) => set({ tp })}
            />
          </>
        ) : null}
        {shape === 'profile' ? null : (
          <Choice
            label="Step times by"
            value={form.steps ?? ''}
            values={choices.latency_models.filter((name) => name !== 'physics')}
            none="physics"
            onChange={(steps) => set({ steps: steps === '' ? undefined : steps })}
          />
        )}
      </div>
      {shape === 'kinds' ? <Kinds choices={choices} form={form} set={set} /> : null}
    </fieldset>
  );
}

const firstKind = ({ hardware, models }: LabChoices, form: LabForm): ReplicaKind => ({
  hardware: form.hardware ?? models.find(({ name }) => name === form.model)?.hardware ?? hardware[0]!,
  ...{ replicas: '2', tp: form.tp ?? '' },
});

function Kinds({ choices, form, set }: Omit<FleetProps, 'workspace'>) {
  const kinds = readKinds(form.kinds!);
  const change = (next: readonly ReplicaKind[]) => set({ kinds: kindsText(next) });
  const at = (i: number, part: Partial<ReplicaKind>) =>
    change(kinds.map((kind, one) => (one === i ? { ...kind, ...part } : kind)));
  return (
    <div className="lab-kinds">
      {kinds.map((kind, i) => (
        // By its place: what is typed must not take the focus away.
        <fieldset key={i} className="lab-kind">
          <legend className="visually-hidden">Kind {i + 1}</legend>
          <Field label="Replicas" value={kind.replicas} onChange={(replicas) => at(i, { replicas })} />
          <Choice
            label="GPU"
            value={kind.hardware}
            values={choices.hardware}
            onChange={(hardware) => at(i, { hardware })}
          />
          <Field
            label="GPUs of each"
            value={kind.tp}
            placeholder="as usual"
            most={64}
            onChange={(tp) => at(i, { tp })}
          />
          {kinds.length > 1 ? (
            <Button
              look="quiet"
              aria-label={`Remove kind ${i + 1}`}
              onClick={() => change(kinds.filter((_, one) => one !== i))}
            >
              Remove
            </Button>
          ) : null}
        </fieldset>
      ))}
      {kinds.length < choices.limits.kinds ? (
        <Button look="quiet" onClick={() => change([...kinds, kinds.at(-1)!])}>
          Add a kind
        </Button>
      ) : null}
    </div>
  );
}

interface EngineProfile {
  readonly endpoint: string;
  readonly engine: string;
  readonly source: string | null;
}

/** Endpoints and engines of which the gateway has a profile. */
function useProfiles(workspace: string): { data: readonly string[] | undefined } {
  const { data } = useGet<Page<EngineProfile>>(withQuery('profiles', { workspace, limit: 100 }));
  return { data: data?.items.filter(({ source }) => source !== null).map(profileText) };
}
