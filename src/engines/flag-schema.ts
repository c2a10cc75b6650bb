/** The JSON Schema of a set of flags: others are not accepted. */
export const flagSchema = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  additionalProperties: false,
  properties,
});

/**
 * Marks of a flag, for the roles of those who set it. `x-needs-admin`: the engine runs code that the value names, or reads a file
 * that it names; the text says which, for messages. `x-host-path`: the value names a model or an adapter, and may be a path of the
 * machine. Either is set by an admin, or by operators in a cluster that allows it.
 */
export const needsAdmin = (reason: string) => ({ 'x-needs-admin': reason }) as const;
export const hostPath = { 'x-host-path': true } as const;

export const countFlag = { type: 'integer', minimum: 1 } as const;
export const textFlag = { type: 'string', minLength: 1 } as const;
export const switchFlag = { type: 'boolean' } as const;
/** A switch that can only be turned on. */
export const onFlag = { enum: [true] } as const;
export const mapFlag = { type: 'object' } as const;
export const ratioFlag = { type: 'number', minimum: 0, maximum: 1 } as const;
