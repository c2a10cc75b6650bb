import type { RequestTable } from '../../request-table.js';
import { BlockLists } from './block-list.js';
import type { CsvColumn } from './csv-columns.js';
import type { Extras } from './extras.js';

export const MAX_COUNT = 2 ** 31 - 1;
const MAX_TIME = Number.MAX_SAFE_INTEGER;
const MAX_SHORT_INDEX = 2 ** 16 - 1;

/** Where each column is written. Times are stored as in the file and corrected by `settleRows`. */
export function columnOf(table: RequestTable, extras: Extras, lists: BlockLists | null): (name: string) => CsvColumn {
  const kinds = table.ensureKinds();
  const count = { holds: 'whole', min: 0, max: MAX_COUNT } as const;
  const time = { holds: 'whole', min: 0, max: MAX_TIME } as const;
  const anyTime = { holds: 'whole', min: -MAX_TIME, max: MAX_TIME } as const;
  const columns: CsvColumn[] = [
    ...(extras.seen?.columns() ?? []),
    { name: 'request_id', ...time, into: extras.sourceId },
    { name: 'client_id', holds: 'name', names: table.clients, max: MAX_COUNT, into: table.client },
    { name: 'tenant_id', holds: 'name', names: table.tenants, max: MAX_COUNT, into: table.tenant },
    { name: 'slo_class', holds: 'name', names: table.sloClasses, max: MAX_SHORT_INDEX, into: table.sloClass },
    { name: 'vllm_priority', ...count },
    { name: 'session_id', holds: 'name', names: table.sessions, max: MAX_COUNT, into: table.session },
    { name: 'round_index', ...count, into: table.round },
    { name: 'prefix_group', holds: 'name', names: table.prefixGroups, max: MAX_COUNT, into: table.prefixGroup },
    { name: 'prefix_length', ...count, into: extras.prefixLength },
    { name: 'streaming', holds: 'boolean', into: table.flags },
    { name: 'input_tokens', ...count, into: table.inputTokens },
    { name: 'output_tokens', ...count, into: table.outputTokens },
    { name: 'text_tokens', ...count, into: kinds.text },
    { name: 'image_tokens', ...count, into: kinds.image },
    { name: 'audio_tokens', ...count, into: kinds.audio },
    { name: 'video_tokens', ...count, into: kinds.video },
    { name: 'reason_ratio', holds: 'ratio', into: kinds.reasonRatio },
    { name: 'model', holds: 'name', names: table.models, max: MAX_SHORT_INDEX, into: table.model },
    { name: 'deadline_us', ...time, into: table.deadlineUs },
    { name: 'slo_target_us', ...time, into: table.sloTargetUs },
    { name: 'server_input_tokens', ...count, into: extras.serverTokens },
    { name: 'arrival_time_us', ...time, into: extras.wantedUs },
    { name: 'intended_arrival_us', ...time, into: extras.wantedUs },
    { name: 'send_time_us', ...anyTime, into: table.arrivalUs },
    { name: 'first_chunk_time_us', ...anyTime },
    { name: 'last_chunk_time_us', ...anyTime },
    { name: 'num_chunks', ...count },
    { name: 'think_time_us', ...time, into: extras.thinkTimeUs, emptyIsZero: true },
    { name: 'block_hashes', holds: 'list', accepted: BlockLists.accepted, read: (row, text) => lists?.read(row, text) },
  ];
  return (name) => columns.find((column) => column.name === name) ?? { name, holds: 'anything' };
}
