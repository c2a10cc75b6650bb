import type { RequestBody } from '../../policy/request-features.js';
import { PromptBytes } from '../../protocol/prompt-bytes.js';

const FIELD_END = '\u0000';
/** A buffer that one huge prompt made is not kept for the small ones that follow. */
const USUAL_BYTES = 1024 * 1024;

/**
 * The text a prompt consists of, in the order in which chat templates put it: tools, then the messages with their roles, or
 * the plain prompt or input. Only equality matters: texts that begin alike have prompts that begin alike.
 */
export class PromptText {
  #bytes = new PromptBytes();

  /** The prompt's bytes: good until the next call. */
  read(body: RequestBody): PromptBytes {
    if (this.#bytes.bytes.length > USUAL_BYTES) this.#bytes = new PromptBytes();
    const bytes = this.#bytes;
    bytes.clear();
    const { messages, prompt, input, tools, query, documents } = body;
    if (Array.isArray(tools) && tools.length > 0) bytes.add(JSON.stringify(tools));
    if (Array.isArray(messages)) {
      for (let i = 0; i < messages.length; i++) addMessage(bytes, messages[i]);
    } else {
      addContent(bytes, prompt ?? input ?? query);
      if (documents !== undefined) addContent(bytes, documents);
    }
    return bytes;
  }
}

function addMessage(bytes: PromptBytes, message: unknown): void {
  if (typeof message !== 'object' || message === null) return;
  const { role, content, ...rest } = message as Record<string, unknown>;
  bytes.add(typeof role === 'string' ? role : FIELD_END);
  addContent(bytes, content);
  for (const key in rest) bytes.add(JSON.stringify(rest[key]) ?? '');
  bytes.add(FIELD_END);
}

/** A text, a list of parts (texts, images, token ids), or anything else as JSON. */
function addContent(bytes: PromptBytes, content: unknown): void {
  if (typeof content === 'string') bytes.add(content);
  else if (Array.isArray(content)) for (let i = 0; i < content.length; i++) addPart(bytes, content[i]);
  else if (content !== undefined && content !== null) bytes.add(JSON.stringify(content));
}

function addPart(bytes: PromptBytes, part: unknown): void {
  if (typeof part === 'number') bytes.addTokens([part]);
  else if (typeof part === 'object' && part !== null && typeof (part as { text?: unknown }).text === 'string') {
    bytes.add((part as { text: string }).text);
  } else addContent(bytes, part);
}
