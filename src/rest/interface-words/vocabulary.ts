/** Every name of the interface that has one of our words, with its form in the client's words and the way back (spec 09 sections 1 and 5). */
import { EnvError } from '../../core/env.ts';
import type { WordPair } from '../../core/env-values.ts';
import { type WordForms, wordForms } from '../../core/word-forms.ts';
import {
  FIXED_VALUES,
  FREE_FIELDS,
  SUFFIXED,
  TEMPLATE_BEGINNING,
  TEMPLATE_NAME,
  type ValueKind,
} from './identifier-positions.ts';

/** A part of the API document. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** What is named outside of the document. */
export interface NamedElsewhere {
  /** Settings, and their categories. */
  settings: readonly string[];
  /** `section:action`. */
  permissions: readonly string[];
  /** Values of settings that have choices, by key. */
  choices: ReadonlyMap<string, readonly string[]>;
  /** Placeholders of settings that are templates, by key. */
  templates: ReadonlyMap<string, readonly string[]>;
}

/** Names of one direction. A name that does not change is missing. */
export interface NameMaps {
  keys: ReadonlyMap<string, string>;
  values: ReadonlyMap<ValueKind, ReadonlyMap<string, string>>;
  /** Beginnings of values that have a suffix. */
  prefixes: readonly (readonly [from: string, to: string])[];
  /** A template with the names in its braces renamed. */
  template: (text: string) => string;
  /** Regular expressions of the document that have one of our words. */
  patterns: ReadonlyMap<string, string>;
}

export interface Vocabulary {
  forms: WordForms;
  /** From the client's words to ours. */
  inward: NameMaps;
  /** From our words to the client's. */
  outward: NameMaps;
  /** Names that only the document has: of schemas, operations and tags. */
  documentNames: ReadonlyMap<string, string>;
  elsewhere: NamedElsewhere;
}

/**
 * @throws EnvError when two names become one, or one becomes a name that the interface has already; the message has both
 */
export function makeVocabulary(pairs: readonly WordPair[], document: JsonObject, elsewhere: NamedElsewhere): Vocabulary {
  const forms = wordForms(pairs);
  const found = namesOf(document);
  const sections = elsewhere.permissions.map((permission) => permission.split(':', 1)[0]!);
  const named: Record<ValueKind, readonly string[]> = {
    ...FIXED_VALUES,
    permissions: [...new Set([...elsewhere.permissions, ...sections, ...sections.map((section) => `${section}:*`)])],
    settings: elsewhere.settings,
  };
  const values = mapEach(named, (kind, names) => renamed(`value (${kind})`, names, forms));
  const paths = Object.keys(document.paths as JsonObject);
  renamed('path', paths.map(withoutParameterNames), forms);
  // The document's list of names is also that of the whole interface: a dictionary may have any identifier as its key.
  const keys = renamed('field', [...found.keys, ...FREE_FIELDS, ...Object.values(named).flat()], forms);
  const documentNames = new Map([
    ...renamed('schema', found.schemas, forms),
    ...renamed('operation', found.operations, forms),
    ...renamed('tag', found.tags, forms),
  ]);
  const outward: NameMaps = {
    keys,
    values,
    prefixes: SUFFIXED.map((name) => [`${name}_`, `${forms.rename(name)}_`] as const).filter(([from, to]) => from !== to),
    patterns: renamed('pattern', found.patterns, forms),
    template: templateRenamer(
      [TEMPLATE_NAME, forms.rename(TEMPLATE_NAME)],
      [TEMPLATE_BEGINNING, forms.rename(TEMPLATE_BEGINNING)],
    ),
  };
  return { forms, outward, inward: inverse(outward, forms), documentNames, elsewhere };
}

/** `/a/{id}` and `/a/{name}` are one path. */
const withoutParameterNames = (path: string): string => path.replace(/\{[^}]*\}/g, '{}');

function mapEach<K extends string, V, R>(record: Record<K, V>, change: (key: K, value: V) => R): Map<K, R> {
  return new Map((Object.entries(record) as [K, V][]).map(([key, value]) => [key, change(key, value)]));
}

/** The names that change, each with its new form. All names are needed, since a new one may be that of another. */
function renamed(kind: string, names: Iterable<string>, forms: WordForms): Map<string, string> {
  const owners = new Map<string, string>();
  const changed = new Map<string, string>();
  for (const name of new Set(names)) {
    const form = forms.rename(name);
    const owner = owners.get(form);
    if (owner !== undefined) {
      throw new EnvError([
        `INTERFACE_WORDS: ${kind} "${name}" and ${kind} "${owner}" would both be "${form}". Choose other words.`,
      ]);
    }
    owners.set(form, name);
    if (form !== name) changed.set(name, form);
  }
  return changed;
}

/** Renames the exact name in braces, and the names in braces with this beginning; both as [from, to]. */
function templateRenamer([exact, exactTo]: [string, string], [start, startTo]: [string, string]): (text: string) => string {
  return (text) =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      if (name === exact) return `{${exactTo}}`;
      return name.startsWith(start) ? `{${startTo}${name.slice(start.length)}}` : whole;
    });
}

function inverse({ keys, values, prefixes, patterns }: NameMaps, forms: WordForms): NameMaps {
  const swapped = (names: ReadonlyMap<string, string>): Map<string, string> => {
    // The regular form of an irregular name is accepted, too, and never answered.
    const regular = [...names.keys()].map((name) => [forms.renameRegularly(name), name] as const);
    return new Map([...regular, ...[...names].map(([name, form]) => [form, name] as const)]);
  };
  return {
    keys: swapped(keys),
    values: new Map([...values].map(([kind, names]) => [kind, swapped(names)])),
    prefixes: prefixes.map(([from, to]) => [to, from]),
    patterns: swapped(patterns),
    template: templateRenamer(
      [forms.rename(TEMPLATE_NAME), TEMPLATE_NAME],
      [forms.rename(TEMPLATE_BEGINNING), TEMPLATE_BEGINNING],
    ),
  };
}

interface DocumentNames {
  keys: Set<string>;
  patterns: Set<string>;
  schemas: string[];
  operations: string[];
  tags: string[];
}

function namesOf(document: JsonObject): DocumentNames {
  const keys = new Set<string>();
  const patterns = new Set<string>();
  const operations: string[] = [];
  const visit = (node: Json, isNames: boolean): void => {
    if (Array.isArray(node)) for (const each of node) visit(each, false);
    else if (node !== null && typeof node === 'object') {
      for (const [key, value] of Object.entries(node)) {
        if (isNames) keys.add(key);
        else if (key === 'pattern' && typeof value === 'string') patterns.add(value);
        else if (key === 'operationId' && typeof value === 'string') operations.push(value);
        else if (key === 'parameters' && Array.isArray(value))
          for (const each of value) keys.add(String((each as JsonObject).name));
        visit(value, key === 'properties' && !isNames);
      }
    }
  };
  visit(document, false);
  const { schemas } = document.components as { schemas: JsonObject };
  const tags = (document.tags as { name: string }[]).map(({ name }) => name);
  return { keys, patterns, schemas: Object.keys(schemas), operations, tags };
}
