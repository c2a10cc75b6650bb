import { ADVISE } from './advise/advise.js';
import { CALIBRATE } from './calibrate/calibrate.js';
import { COMPARE } from './compare/compare.js';
import { COMPLETION } from './completion/completion.js';
import { CONTEXT_DELETE } from './context/delete.js';
import { CONTEXT_LIST } from './context/list.js';
import { CONTEXT_SET } from './context/set.js';
import { CONTEXT_SHOW } from './context/show.js';
import { CONTEXT_USE } from './context/use.js';
import { APPLY } from './control/apply.js';
import { BACKUP } from './control/backup.js';
import { DIFF } from './control/change/diff.js';
import { EDIT } from './control/change/edit.js';
import { PATCH } from './control/change/patch.js';
import { DELETE } from './control/delete.js';
import { DESCRIBE } from './control/describe.js';
import { DRAIN } from './control/drain.js';
import { EVENTS } from './control/events.js';
import { GET } from './control/get.js';
import { ISSUE } from './control/issue.js';
import { LOGS } from './control/logs.js';
import { RESTORE } from './control/restore.js';
import { SCALE } from './control/scale.js';
import { WAIT } from './control/wait.js';
import { COMPOSE } from './convert/compose.js';
import { CONVERT } from './convert/convert.js';
import { DECIDE } from './decide/decide.js';
import { DOCTOR } from './doctor/doctor.js';
import { EXPERIMENT_CANCEL } from './experiment/cancel.js';
import { EXPERIMENT_FETCH } from './experiment/fetch.js';
import { EXPERIMENT_MANIFEST } from './experiment/manifest.js';
import { EXPERIMENT_STATUS } from './experiment/status.js';
import { WORKER } from './experiment/worker.js';
import { EXPLAIN } from './explain/explain.js';
import type { CommandLine } from './flags/command-line.js';
import { KEYS_CREATE } from './keys/create.js';
import { KEYS_LIST } from './keys/list.js';
import { KEYS_REVOKE } from './keys/revoke.js';
import { KEYS_ROTATE } from './keys/rotate.js';
import { KEYS_SHOW } from './keys/show.js';
import { KEYS_UPDATE } from './keys/update.js';
import { KEYS_USAGE } from './keys/usage.js';
import { OBSERVE } from './observe/observe.js';
import { PLAN } from './plan/plan.js';
import { PROFILES_EXPORT } from './profiles/export.js';
import { PROFILES_LIST } from './profiles/list.js';
import { PROFILES_PIN } from './profiles/pin.js';
import { PROFILES_SHOW } from './profiles/show.js';
import { ROLLOUT_HISTORY } from './rollout/history.js';
import { ROLLOUT_STATUS } from './rollout/status.js';
import { ROLLOUT_UNDO } from './rollout/undo.js';
import { SCHEMA } from './schema/schema.js';
import { DEMO } from './serve/demo.js';
import { ENGINE } from './serve/engine.js';
import { KUBE_ROLE } from './serve/kube-role.js';
import { SERVE } from './serve/serve.js';
import { SHADOW_ADD } from './shadow/add.js';
import { SHADOW_LIST } from './shadow/list.js';
import { SHADOW_REMOVE } from './shadow/remove.js';
import { REPLAY } from './simulate/replay.js';
import { RUN } from './simulate/run.js';
import { SWEEP } from './sweep/sweep.js';
import { TOP } from './top/top.js';
import { TRACE_ANONYMISE } from './trace/anonymise.js';
import { TRACE_CAP } from './trace/cap.js';
import { TRACE_FIT } from './trace/fit.js';
import { TRACE_SCALE } from './trace/scale.js';
import { TRACE_SLICE } from './trace/slice.js';
import { TRACE_STATS } from './trace/stats.js';
import { TUNE } from './tune/tune.js';
import { VALIDATE } from './validate/validate.js';
import { VERSION } from './version.js';
import { WHAT_IF } from './whatif/whatif.js';

/** Every command and subcommand that takes flags: documentation, completion and tests walk this list. */
export const COMMAND_LINES: readonly CommandLine[] = [
  RUN,
  REPLAY,
  COMPARE,
  PLAN,
  TUNE,
  SWEEP,
  WHAT_IF,
  ADVISE,
  WORKER,
  EXPERIMENT_STATUS,
  EXPERIMENT_FETCH,
  EXPERIMENT_CANCEL,
  EXPERIMENT_MANIFEST,
  DECIDE,
  SERVE,
  KUBE_ROLE,
  DEMO,
  ENGINE,
  EXPLAIN,
  SHADOW_ADD,
  SHADOW_LIST,
  SHADOW_REMOVE,
  PROFILES_LIST,
  PROFILES_SHOW,
  PROFILES_PIN,
  PROFILES_EXPORT,
  TOP,
  DOCTOR,
  APPLY,
  GET,
  DESCRIBE,
  DELETE,
  WAIT,
  DIFF,
  EDIT,
  PATCH,
  ROLLOUT_STATUS,
  ROLLOUT_HISTORY,
  ROLLOUT_UNDO,
  SCALE,
  DRAIN,
  LOGS,
  EVENTS,
  CONTEXT_SET,
  CONTEXT_USE,
  CONTEXT_LIST,
  CONTEXT_SHOW,
  CONTEXT_DELETE,
  ISSUE,
  KEYS_CREATE,
  KEYS_LIST,
  KEYS_SHOW,
  KEYS_UPDATE,
  KEYS_ROTATE,
  KEYS_REVOKE,
  KEYS_USAGE,
  BACKUP,
  RESTORE,
  TRACE_STATS,
  TRACE_CAP,
  TRACE_SLICE,
  TRACE_SCALE,
  TRACE_ANONYMISE,
  TRACE_FIT,
  CONVERT,
  COMPOSE,
  OBSERVE,
  CALIBRATE,
  VALIDATE,
  COMPLETION,
  SCHEMA,
  VERSION,
];
