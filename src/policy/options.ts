import type * as v from 'valibot';

/** The options of a policy by name. Each has a default, so that a policy works without any. */
export type OptionSchema<Options> = { readonly [Name in keyof Options]: v.GenericSchema<unknown, Options[Name]> };

/** For policies without options. */
export const NO_OPTIONS: OptionSchema<Record<never, never>> = {};
