import { CabinetError } from '@subscription-service/client';
import { type ReactNode, useId } from 'react';
import { sentenceOf } from './service.ts';
import { useTexts } from './texts.ts';
import type { Action } from './use-action.ts';
import type { Loaded } from './use-loaded.ts';

/** States that every view has: loading, empty, failed, done. */

interface LoadedViewProps<Value> {
  from: Loaded<Value>;
  isEmpty?: (value: Value) => boolean;
  empty?: string;
  children: (value: Value) => ReactNode;
}

/** Shows what was loaded. After a failed reload the earlier value stays, with the error above it. */
export function LoadedView<Value>({ from, isEmpty, empty, children }: LoadedViewProps<Value>) {
  const texts = useTexts();
  const { value, error, reload } = from;
  return (
    <>
      {error !== null && (
        <div className="problem" role="alert">
          {sentenceOf(error)}{' '}
          <button type="button" className="plain" onClick={reload}>
            {texts.tryAgain}
          </button>
        </div>
      )}
      {value === null && error === null && <p className="soft loading">{texts.loading}</p>}
      {value !== null && (isEmpty?.(value) ? <p className="soft">{empty}</p> : children(value))}
    </>
  );
}

/** Errors of these fields are shown at the field. */
interface OutcomeProps<Input, Output> {
  action: Action<Input, Output>;
  done?: (answer: Output) => ReactNode;
  fields?: string[];
}

/** The outcome of an action, for sighted users and screen readers. An unknown outcome offers the repeat that is carried out once only. */
export function Outcome<Input, Output>({ action, done, fields = [] }: OutcomeProps<Input, Output>) {
  const texts = useTexts();
  const { error, answer, repeat, isBusy } = action;
  const isAtField = fields.some((field) => fieldProblem(error, field) !== null);
  return (
    <>
      <div role="status" className="success" data-testid="outcome">
        {answer !== null && done?.(answer)}
      </div>
      {error !== null && !isAtField && (
        <div className="problem" role="alert">
          {sentenceOf(error)}
        </div>
      )}
      {repeat && (
        <p>
          {texts.unknownOutcome}{' '}
          <button type="button" className="plain" disabled={isBusy} onClick={() => void repeat()} data-testid="repeat">
            {texts.repeatSafely}
          </button>
        </p>
      )}
    </>
  );
}

export function fieldProblem(error: unknown, path: string): CabinetError['fieldErrors'][number] | null {
  return error instanceof CabinetError ? (error.fieldErrors.find((field) => field.path === path) ?? null) : null;
}

interface FieldProps {
  label: string;
  hint?: string | undefined;
  /** Of the action that sends the field, and the name of the field in it. */
  error?: unknown;
  path?: string;
  children: (attributes: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode;
}

/** A labelled input with its hint, or with the reason for which the service refused it. */
export function Field({ label, hint, error = null, path, children }: FieldProps) {
  const texts = useTexts();
  const id = useId();
  const problem = path === undefined ? null : fieldProblem(error, path);
  const remark = problem
    ? problem.type === 'string_too_short'
      ? `${texts.tooShort} ${problem.bounds.min_length}`
      : problem.message || texts.invalidValue
    : hint;
  const attributes = {
    id,
    ...(remark ? { 'aria-describedby': `${id}-remark` } : {}),
    ...(problem ? { 'aria-invalid': true as const } : {}),
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(attributes)}
      {remark && (
        <span id={`${id}-remark`} className={problem ? 'problem' : 'hint'}>
          {remark}
        </span>
      )}
    </div>
  );
}
