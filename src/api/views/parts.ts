import * as v from 'valibot';
import { type Annotated, field, required } from '../../schema/fields.js';

/** What the schemas of responses are made of. OpenAPI names each schema by its title and describes each field by its help. */

export const string = v.string();
export const numeric = v.number();
export const naturalNumber = v.pipe(v.number(), v.integer(), v.minValue(0));
export const nullable = <S extends v.GenericSchema>(schema: S) => v.nullable(schema);
/** Data whose keys a user, an engine or a policy chooses. */
export const openMap = v.record(v.string(), v.unknown());

export const described = <S extends v.GenericSchema>(schema: S, help: string): Annotated<S> =>
  required(schema, { help });
export const maybe = <S extends v.GenericSchema>(schema: S, help: string) => field(schema, { help });
