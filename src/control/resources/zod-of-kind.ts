import { z } from 'zod';
import type { Kind } from '../../kernel/yaml/schema.js';

/** The zod schema of what a policy file may hold, so that an endpoint takes the same keys as the file does. */
export function zodOfKind(kind: Kind): z.ZodType {
  switch (kind.type) {
    case 'text':
      return kind.known === undefined ? z.string().max(200) : z.enum(kind.known as [string, ...string[]]);
    case 'number': {
      let schema = kind.whole ? z.int() : z.number();
      if (kind.min !== Number.NEGATIVE_INFINITY) schema = kind.above ? schema.gt(kind.min) : schema.min(kind.min);
      if (kind.max !== Number.POSITIVE_INFINITY) schema = schema.max(kind.max);
      return schema;
    }
    case 'switch':
      return z.boolean();
    case 'any':
      return z.unknown();
    case 'list':
      return z.array(zodOfKind(kind.of));
    case 'each':
      return z.record(z.string(), zodOfKind(kind.of));
    case 'keys':
      return z.strictObject(
        Object.fromEntries(
          Object.entries(kind.keys).map(([name, { help, kind: inner, needed }]) => {
            const schema = zodOfKind(inner).describe(help);
            return [name, needed ? schema : schema.optional()];
          }),
        ),
      );
  }
}
