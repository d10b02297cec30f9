import { refusal } from '../errors.ts';

/** Refusals of requests before or beside the operation: media type, size, form, range. */
export const unsupportedMediaType = refusal('unsupported_media_type', 415, 'Unsupported Media Type');
export const bodyTooLarge = refusal('body_too_large', 413, 'Request body too large');
export const tooManyParts = refusal('too_many_parts', 413, 'The form has too many parts. Maximum: one file and <n> fields');
export const malformedForm = refusal('malformed_form', 400, 'There was an error parsing the body');
/** What every operation that accepts a form refuses. */
export const FORM_REFUSALS = [tooManyParts, malformedForm];
export const rangeNotSatisfiable = refusal('range_not_satisfiable', 416, 'Range Not Satisfiable');
/** `WEB_API_ENABLED` or `CABINET_ENABLED` is off. */
export const areaClosed = refusal('not_found', 404, 'Not Found');
