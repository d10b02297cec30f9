import { randomUUID } from 'node:crypto';

/** A request body with its content type. */
export interface EncodedForm {
  contentType: string;
  body: string;
}

/** Fields and one text file as `multipart/form-data`, in UTF-8. A boundary of random digits occurs in no text. */
export function multipartForm(
  fields: Readonly<Record<string, string>>,
  file: { field: string; name: string; type: string; text: string },
): EncodedForm {
  const boundary = `form-${randomUUID()}`;
  const part = (head: string, content: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  const name = file.name.replace(/[^\w.-]/g, '_');
  const parts = [
    ...Object.entries(fields).map(([key, value]) => part(`name="${key}"`, value)),
    part(`name="${file.field}"; filename="${name}"\r\nContent-Type: ${file.type}`, file.text),
  ];
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: `${parts.join('')}--${boundary}--\r\n` };
}
