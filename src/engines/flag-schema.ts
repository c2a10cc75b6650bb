/** The JSON Schema of a set of flags: others are not accepted. */
export const flagSchema = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  additionalProperties: false,
  properties,
});

export const countFlag = { type: 'integer', minimum: 1 } as const;
export const textFlag = { type: 'string', minLength: 1 } as const;
export const switchFlag = { type: 'boolean' } as const;
export const mapFlag = { type: 'object' } as const;
export const ratioFlag = { type: 'number', minimum: 0, maximum: 1 } as const;
