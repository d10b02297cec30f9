import { randomUUID } from 'node:crypto';

/** A request body with its content type. */
export interface EncodedForm {
  contentType: string;
  body: string | Uint8Array;
}

/** Fields and one file as `multipart/form-data`; texts in UTF-8. A boundary of random digits occurs in no content. */
export function multipartForm(
  fields: Readonly<Record<string, string>>,
  file: { field: string; name: string; type: string; content: string | Uint8Array },
): EncodedForm {
  const boundary = `form-${randomUUID()}`;
  const head = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;
  const name = file.name.replace(/[^\w.-]/g, '_');
  const parts = [
    ...Object.entries(fields).map(([key, value]) => `${head(`name="${key}"`)}${value}\r\n`),
    head(`name="${file.field}"; filename="${name}"\r\nContent-Type: ${file.type}`),
  ];
  const body = Buffer.concat([Buffer.from(parts.join('')), Buffer.from(file.content), Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}
