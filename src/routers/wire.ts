/**
 * The one codec between the interface (snake_case) and the domain (camelCase). `.input(fromWire(Schema))` hands a procedure its input under
 * domain names; `.output(toWire(Schema))` accepts a domain value and returns the fields that the schema names. What differs in more than
 * the spelling (another name, another unit, a computed field) the procedure maps by hand.
 */

import { z } from 'zod';
import { camelCase } from '../core/camel-case.ts';
import type { StreamedFile, UploadedFile } from '../core/http/uploads.ts';
import { innerSchema, objectShape, type Schema } from '../core/zod-structure.ts';

export type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The domain's form of a wire type: keys in camel case at every depth. Free-form maps keep their keys. */
export type Domain<T> = T extends UploadedFile | StreamedFile | Date | string | number | boolean | bigint | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? Domain<Item>[]
    : T extends object
      ? string extends keyof T
        ? { [Key in keyof T]: Domain<T[Key]> }
        : { [Key in keyof T as Key extends string ? CamelCase<Key> : Key]: Domain<T[Key]> }
      : T;

/** A parser as tRPC accepts it, which still shows the wire schema to routes and document. */
export interface WireParser<In, Out> {
  readonly _input: In;
  readonly _output: Out;
  readonly schema: Schema;
  parse(value: unknown): Out;
}

type Convert = (value: unknown) => unknown;

/** Validates a request by its wire schema and hands it on under domain names. */
export function fromWire<S extends z.ZodType>(schema: S): WireParser<z.input<S>, Domain<z.output<S>>> {
  const rename = compile(schema, 'domain');
  return parser(schema, (value) => rename(schema.parse(value)) as Domain<z.output<S>>);
}

/** Accepts a domain value, keeps what the wire schema names and validates it. */
export function toWire<S extends z.ZodType>(schema: S): WireParser<Domain<z.input<S>>, z.output<S>> {
  const rename = compile(schema, 'wire');
  return parser(schema, (value) => schema.parse(rename(value)));
}

const joinedBodies = z.registry<{ body: unknown }>();

/** One input of path (or query) parameters and a body, whose component the published document keeps (spec 10 K2). */
export function withBody<P extends z.ZodRawShape, B extends z.ZodRawShape>(parameters: z.ZodObject<P>, body: z.ZodObject<B>) {
  return parameters.extend(body.shape).register(joinedBodies, { body });
}

/** The body of an input that `withBody` made, checks added or not. */
export const bodyJoinedInto = (input: Schema): Schema | undefined => joinedBodies.get(input)?.body as Schema | undefined;

/** The zod schema of a procedure's input or output, with or without the codec. */
export function schemaOf(parser: Schema | WireParser<unknown, unknown>): Schema {
  return 'schema' in parser ? parser.schema : parser;
}

/** The two types are read by the compiler only. */
function parser<In, Out>(schema: z.ZodType, parse: (value: unknown) => Out): WireParser<In, Out> {
  return { schema, parse } as unknown as WireParser<In, Out>;
}

const asIs: Convert = (value) => value;

/** Compiled schemas, stored before their parts are compiled, so that a recursive schema can be compiled. */
const compiled = { domain: new WeakMap<Schema, Convert>(), wire: new WeakMap<Schema, Convert>() };

function compile(schema: Schema, to: 'domain' | 'wire'): Convert {
  const known = compiled[to].get(schema);
  if (known) return known;
  let convert: Convert = asIs;
  compiled[to].set(schema, (value) => convert(value));
  convert = converterOf(innerSchema(schema), to);
  compiled[to].set(schema, convert);
  return convert;
}

function converterOf(schema: Schema, to: 'domain' | 'wire'): Convert {
  if (schema instanceof z.ZodArray) return eachOf(compile(schema.element as Schema, to));
  if (schema instanceof z.ZodRecord) return eachValueOf(compile(schema.valueType as Schema, to));
  if (schema instanceof z.ZodDiscriminatedUnion) return formOf(schema, to);
  const shape = objectShape(schema);
  return shape === undefined ? asIs : fieldsOf(shape, to);
}

function eachOf(convert: Convert): Convert {
  if (convert === asIs) return asIs;
  return (value) => (Array.isArray(value) ? value.map(convert) : value);
}

function eachValueOf(convert: Convert): Convert {
  if (convert === asIs) return asIs;
  return (value) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, convert(item)])) : value;
}

/** The discriminator selects the form, so that two forms may use one name for different things. The parser refuses other values. */
function formOf({ def }: z.ZodDiscriminatedUnion, to: 'domain' | 'wire'): Convert {
  const discriminator = to === 'wire' ? camelCase(def.discriminator) : def.discriminator;
  const forms = new Map<unknown, Convert>();
  for (const option of def.options) {
    const convert = compile(option, to);
    for (const value of option._zod.propValues?.[def.discriminator] ?? []) forms.set(value, convert);
  }
  return (value) => (isObject(value) ? (forms.get(value[discriminator]) ?? asIs)(value) : value);
}

function fieldsOf(shape: Record<string, Schema>, to: 'domain' | 'wire'): Convert {
  const fields = Object.entries(shape).map(([wire, schema]) => {
    const domain = camelCase(wire);
    return to === 'wire' ? [domain, wire, compile(schema, to)] : [wire, domain, compile(schema, to)];
  }) as [from: string, to: string, convert: Convert][];
  return (value) => {
    if (!isObject(value)) return value;
    const result: Record<string, unknown> = {};
    for (const [from, name, convert] of fields) {
      const field = value[from];
      if (field !== undefined) result[name] = convert(field);
    }
    return result;
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
