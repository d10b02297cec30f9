/** How the requests and answers of an operation are renamed, prepared at start (spec 09 section 6). */
import type { WireRequest } from '../wire-decoder.ts';
import { IDENTIFIER_POSITIONS, REFUSAL_POSITIONS, SETTINGS_PATH } from './identifier-positions.ts';
import { type DocumentedOperation, type OperationPlan, planOperation } from './operation-plan.ts';
import { makeRenamer, type ObjectRule, type Renamer } from './rename-values.ts';
import { changeSetting, settingValues } from './setting-values.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface OperationWords {
  /** Puts a request into our words. Called before it is decoded. */
  readRequest(wire: WireRequest): void;
  /** The answer in the client's words. */
  answer(value: unknown): unknown;
  /** The body of a refusal in the client's words. */
  refusal(body: unknown): unknown;
}

/** Shared by all operations with the same positions. */
interface Renamers {
  positions: typeof IDENTIFIER_POSITIONS;
  inward: Renamer;
  outward: Renamer;
  refused: Renamer;
  /** Changes the values of a setting in a request; undefined for operations about something else. */
  settingIn: ReturnType<typeof settingValues> | undefined;
}

const PERMISSION_NAME = /[a-z_]+:(?:[a-z_]+|\*)/g;
/** Refusals whose sentence names permissions. */
const NAMES_PERMISSIONS =
  /^(?:Permission denied|Invalid permissions|Cannot grant permissions|This change would take your own permissions)/;

/** @returns a function that keeps nothing of the document that it gets */
export function operationWordsOf(vocabulary: Vocabulary): (documented: DocumentedOperation) => OperationWords {
  const known = new Map<string, Renamers>();
  const renamersFor = (path: string): Renamers => {
    const positions = IDENTIFIER_POSITIONS.filter(({ paths }) => paths === undefined || paths.test(path));
    const name = IDENTIFIER_POSITIONS.map((each) => (positions.includes(each) ? '1' : '0')).join('');
    const renamers = known.get(name) ?? makeRenamers(vocabulary, positions, SETTINGS_PATH.test(path));
    known.set(name, renamers);
    return renamers;
  };
  return (documented) => {
    const renamers = renamersFor(documented.path);
    return wordsBy(vocabulary, renamers, planOperation(documented, renamers.positions, vocabulary.outward.keys));
  };
}

function makeRenamers(vocabulary: Vocabulary, positions: typeof IDENTIFIER_POSITIONS, isSetting: boolean): Renamers {
  const changeOut = settingValues(vocabulary, 'outward');
  const rule: ObjectRule = (before, after) => {
    const change = typeof before.key === 'string' ? changeOut(before.key) : undefined;
    return change === undefined ? after : changeSetting(change, after);
  };
  return {
    positions,
    inward: makeRenamer(vocabulary.inward, positions, { isInward: true }),
    outward: makeRenamer(vocabulary.outward, positions, { isInward: false, ...(isSetting ? { rule } : {}) }),
    refused: makeRenamer(vocabulary.outward, [...positions, ...REFUSAL_POSITIONS], { isInward: false }),
    settingIn: isSetting ? settingValues(vocabulary, 'inward') : undefined,
  };
}

function wordsBy(
  { outward: { values, patterns } }: Vocabulary,
  { inward, outward, refused, settingIn }: Renamers,
  { isPathRenamed, isQueryRenamed, isBodyRenamed, isAnswerRenamed }: OperationPlan,
): OperationWords {
  const permissions = values.get('permissions');

  const readBody = ({ key }: WireRequest['params']): ((body: unknown) => unknown) => {
    const change = key === undefined ? undefined : settingIn?.(key);
    return (body) => {
      const renamed = inward.value(body);
      return change !== undefined && isObject(renamed) ? changeSetting(change, renamed) : renamed;
    };
  };

  function refusedIssue(issue: unknown): unknown {
    if (!isObject(issue) || !Array.isArray(issue.loc)) return refused.value(issue);
    const field = issue.loc.findLast((each) => typeof each === 'string' && !/^\d+$/.test(each)) as string | undefined;
    const loc = issue.loc.map((each) => (typeof each === 'string' ? outward.key(each) : each));
    const ctx = isObject(issue.ctx) ? { ctx: withPattern(issue.ctx) } : {};
    return { ...issue, loc, ...('input' in issue ? { input: outward.value(issue.input, field) } : {}), ...ctx };
  }

  function withPattern(ctx: Record<string, unknown>): Record<string, unknown> {
    const pattern = typeof ctx.pattern === 'string' ? patterns.get(ctx.pattern) : undefined;
    return pattern === undefined ? ctx : { ...ctx, pattern };
  }

  return {
    readRequest(wire) {
      if (isPathRenamed) wire.params = inward.value(wire.params) as WireRequest['params'];
      if (isQueryRenamed) wire.query = inward.value(wire.query) as WireRequest['query'];
      if (!isBodyRenamed) return;
      if (wire.form !== undefined) wire.form = inward.value(wire.form) as NonNullable<WireRequest['form']>;
      wire.readBody = readBody(wire.params);
    },
    answer: (value) => (isAnswerRenamed ? outward.value(value) : value),
    refusal(body) {
      if (!isObject(body)) return body;
      const { detail } = body;
      if (Array.isArray(detail)) return { ...body, detail: detail.map(refusedIssue) };
      if (typeof detail === 'string' && NAMES_PERMISSIONS.test(detail))
        return { ...body, detail: detail.replace(PERMISSION_NAME, (name) => permissions?.get(name) ?? name) };
      return refused.value(body);
    },
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
