import { type ChangeEvent, useState } from 'react';
import { ApiFailure, call, withQuery } from '../../../api/client';
import { useLive } from '../../../api/live';
import { whole } from '../../../parts/format';
import { Failure } from '../../../parts/states';
import { Time } from '../../../parts/time';
import type { LabSearch } from '../../../shell/router';
import type { LabChoices } from '../lab-document';
import { Choice, Field } from './fields';
import { isTrace, LAST_MINUTES, type LabForm } from './lab-question';

interface TrafficProps {
  readonly workspace: string;
  readonly choices: LabChoices;
  readonly form: LabForm;
  readonly mayRun: boolean;
  readonly set: (change: LabSearch) => void;
}

const SOURCES = { preset: 'Preset', upload: 'Upload', recording: 'Recording' } as const;
const ABOUT: Readonly<Record<string, string>> = {
  distribution: 'equal clients, prompts and outputs around 512 tokens',
  chatbot: 'short prompts and outputs',
  contentgen: 'long outputs',
  summarization: 'prompts of 4,096 tokens, short outputs',
  multidoc: 'prompts of 10,240 tokens',
  rag: 'documents that many prompts share, in bursts',
  'agentic-coder': 'sessions of many turns with growing contexts',
  'mixed-slo': 'interactive and batch requests together',
};

/** The requests: generated, of a file, or recorded by this gateway. */
export function TrafficFields(props: TrafficProps) {
  const { choices, form, set } = props;
  const source = form.source ?? 'preset';
  return (
    <fieldset>
      <legend>Traffic</legend>
      <div className="segments">
        {Object.entries(SOURCES).map(([value, name]) => (
          <label key={value}>
            <input
              type="radio"
              name="source"
              checked={source === value}
              onChange={() => set({ source: value === 'preset' ? undefined : (value as 'upload' | 'recording') })}
            />
            <span>{name}</span>
          </label>
        ))}
      </div>
      <div className="question">
        {source === 'preset' ? (
          <Choice
            label="Workload"
            isWide
            value={form.workload}
            values={choices.workloads}
            shown={(name) => (ABOUT[name] === undefined ? name : `${name}: ${ABOUT[name]}`)}
            onChange={(workload) => set({ workload })}
          />
        ) : null}
        {source === 'upload' ? <UploadField {...props} /> : null}
        {source === 'recording' ? <RecordingFields {...props} /> : null}
        {isTrace(form) ? null : (
          <>
            <Field
              label="Requests/s, or a list"
              value={form.rate}
              placeholder="10, 20, 40"
              isList
              onChange={(rate) => set({ rate })}
            />
            <Field
              label="Requests"
              value={form.requests}
              most={choices.limits.requests}
              onChange={(requests) => set({ requests })}
            />
          </>
        )}
      </div>
    </fieldset>
  );
}

function UploadField({ choices, form, mayRun, set, workspace }: TrafficProps) {
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const most = choices.limits.upload_bytes;
  const upload = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    if (file === undefined) return;
    setIsBusy(true);
    setFailure(null);
    try {
      if (file.size > most) throw tooLarge(file.size, most);
      const content = await file.text();
      const path = `workspaces/${encodeURIComponent(workspace)}/lab/uploads`;
      const kept = await call<{ id: string; name: string }>('POST', withQuery(path, { name: plainName(file.name) }), {
        text: { content, type: 'application/octet-stream' },
      });
      set({ upload: kept.id, file: kept.name, format: /\.ya?ml$/.test(kept.name) ? 'workload' : undefined });
    } catch (error) {
      setFailure(error as ApiFailure);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <>
      <label className="field">
        <span>Trace or workload specification, text of at most {whole(most / 2 ** 20)} MiB</span>
        <input type="file" accept=".jsonl,.json,.csv,.yaml,.yml,.txt" disabled={!mayRun || isBusy} onChange={upload} />
        <span role="status">
          {isBusy
            ? 'Uploading…'
            : form.upload === undefined
              ? ''
              : `${form.file ?? 'file'} (${form.upload.slice(0, 12)})`}
        </span>
      </label>
      <Choice
        label="It is"
        value={form.format ?? 'trace'}
        values={['trace', 'workload']}
        shown={(format) => (format === 'trace' ? 'a recorded trace' : 'a workload specification')}
        onChange={(format) => set({ format: format === 'workload' ? 'workload' : undefined })}
      />
      {failure === null ? null : <Failure error={failure} />}
    </>
  );
}

const tooLarge = (bytes: number, most: number) =>
  new ApiFailure(
    413,
    'TOO_LARGE',
    `the file has ${whole(bytes)} bytes, and at most ${whole(most)} can be uploaded`,
    "cut it with 'twinyard trace slice', or run 'twinyard compare' where it is",
  );

/** A name that the API takes, and that a command takes without quotes. */
const plainName = (name: string) =>
  name
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9_]+/, '')
    .slice(-80) || 'upload';

function RecordingFields({ form, set, workspace }: TrafficProps) {
  const endpoints = (useLive(({ traffic }) => traffic)?.items ?? []).filter((one) => one.workspace === workspace);
  const isFixed = form.from !== undefined && form.to !== undefined;
  return (
    <>
      <Choice
        label="Endpoint"
        value={form.endpoint ?? ''}
        values={endpoints.map(({ name }) => name)}
        none="Choose one"
        onChange={(endpoint) => set({ endpoint })}
      />
      {isFixed ? (
        <p className="field">
          <span>Recorded</span>
          <span>
            <Time at={form.from!} /> to <Time at={form.to!} />{' '}
            <button type="button" className="link" onClick={() => set({ from: undefined, to: undefined })}>
              Choose another time
            </button>
          </span>
        </p>
      ) : (
        <Choice
          label="Recorded in the last"
          value={form.last ?? LAST_MINUTES[0]}
          values={LAST_MINUTES}
          shown={(minutes) => (Number(minutes) < 60 ? `${minutes} minutes` : `${Number(minutes) / 60} h`)}
          onChange={(last) => set({ last })}
        />
      )}
    </>
  );
}
