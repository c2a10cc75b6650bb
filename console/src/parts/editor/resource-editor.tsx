import '../../styles/editor.css';
import { useEffect, useState } from 'react';
import type { Resource } from '../../api/types';
import { Button, Card } from '../basics';
import { isMap } from '../schema-form/json-schema';
import { SchemaForm } from '../schema-form/schema-form';
import { Failure } from '../states';
import { ApplyDialog } from './apply-dialog';
import { Conflict } from './conflict';
import { type Applied, useApply } from './use-apply';
import { formSchema, type KindSchema, useEngineParameters, useSuggestions } from './use-kind-schema';
import { changedText, fileOf, readDraft } from './yaml-draft';

interface EditorProps {
  readonly kind: KindSchema;
  /** Null for a new one. */
  readonly resource: Resource | null;
  readonly workspace: string;
  readonly mayChange: boolean;
  readonly onApplied?: (applied: Resource) => void;
}

const firstFile = ({ example, kind, scope }: KindSchema, workspace: string) =>
  fileOf({
    apiVersion: 'twinyard/v1',
    kind,
    metadata: { name: '', ...(scope === 'global' ? {} : { workspace }) },
    spec: example,
  });

/** The workspace that a draft names. */
const workspaceIn = (value: unknown) =>
  isMap(value) && isMap(value.metadata) && typeof value.metadata.workspace === 'string'
    ? value.metadata.workspace
    : undefined;

/** A resource as a form made from its schema and as YAML, side by side: a change of one is a change of the other. */
export function ResourceEditor({ kind, mayChange, onApplied, resource, workspace }: EditorProps) {
  const present = resource === null ? firstFile(kind, workspace) : fileOf(resource);
  /** What the draft was made from. A status that changes leaves it as it is. */
  const [base, setBase] = useState({ text: present, version: resource?.metadata.resource_version });
  const [text, setText] = useState(present);
  const [plan, setPlan] = useState<Applied | null>(null);
  const draft = readDraft(text);
  const apply = useApply(workspaceIn(draft.value) ?? workspace, kind, resource, base.version);
  const parameters = useEngineParameters(draft.value);
  const suggestions = useSuggestions(kind.kind, workspace);
  const isTouched = text !== base.text;
  const load = (next: string, version: number | undefined) => {
    apply.reset();
    setBase({ text: next, version });
  };
  useEffect(() => {
    if (isTouched || present === base.text) return;
    setBase({ text: present, version: resource?.metadata.resource_version });
    setText(present);
  }, [present, isTouched]);
  return (
    <Card title={resource === null ? `New ${kind.kind}` : 'Desired state'}>
      {present === base.text ? null : (
        <Conflict
          before={base.text}
          after={present}
          onDiscard={() => {
            load(present, resource?.metadata.resource_version);
            setText(present);
          }}
          onKeep={() => load(present, resource?.metadata.resource_version)}
        />
      )}
      <div className="editor">
        <section aria-label="Form">
          {draft.problem === null ? (
            <SchemaForm
              schema={formSchema(kind, parameters)}
              value={draft.value}
              host={{
                isReadOnly: !mayChange,
                suggestions,
                set: (path, value) => setText((before) => changedText(before, path, value)),
              }}
            />
          ) : (
            <p className="log-note" role="alert">
              The YAML cannot be read, so there is no form: {draft.problem}
            </p>
          )}
        </section>
        <div className="editor-side">
          <label className="field">
            <span>YAML{mayChange ? '' : ` (read only: a change needs the role ${kind.changed_by})`}</span>
            <textarea
              rows={24}
              spellCheck={false}
              readOnly={!mayChange}
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          </label>
          {apply.previewError === null ? null : <Failure error={apply.previewError} />}
          {mayChange ? (
            <div className="dialog-actions">
              <Button onClick={() => setText(base.text)} disabled={!isTouched}>
                Reset
              </Button>
              <Button
                look="primary"
                disabled={draft.problem !== null || (resource !== null && !isTouched) || apply.isBusy}
                onClick={() => void apply.preview(text).then(setPlan)}
              >
                Preview the change
              </Button>
            </div>
          ) : null}
        </div>
      </div>
      <ApplyDialog
        plan={plan}
        isNew={resource === null}
        error={apply.applyError}
        isBusy={apply.isBusy}
        onClose={() => setPlan(null)}
        onApply={() =>
          void apply.apply(text).then((applied) => {
            if (applied === null) return;
            setPlan(null);
            setBase({ text: fileOf(applied), version: applied.metadata.resource_version });
            setText(fileOf(applied));
            onApplied?.(applied);
          })
        }
      />
    </Card>
  );
}
