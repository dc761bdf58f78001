import { Buffer } from 'node:buffer';

export interface SampleHeaders {
  id: string;
  from?: string;
  subject?: string;
  inReplyTo?: string;
  references?: readonly string[];
  date?: string;
}

/** The bytes of a message: headers, and a body that brings its own MIME headers. */
export function makeMail(
  headers: SampleHeaders,
  ...parts: readonly (string | Uint8Array)[]
): Buffer {
  const lines = [
    `From: ${headers.from ?? 'Ada <ada@acme.dev>'}`,
    'To: team@acme.dev',
    `Subject: ${headers.subject ?? 'Billing export'}`,
    `Date: ${headers.date ?? 'Tue, 03 Nov 2026 10:00:00 +0100'}`,
    `Message-ID: <${headers.id}>`,
    ...(headers.inReplyTo === undefined ? [] : [`In-Reply-To: <${headers.inReplyTo}>`]),
    ...(headers.references === undefined
      ? []
      : [`References: ${headers.references.map((id) => `<${id}>`).join('\r\n ')}`]),
    'MIME-Version: 1.0',
    '',
  ];
  const head = Buffer.from(lines.join('\r\n'), 'latin1');
  return Buffer.concat([head, ...parts.map((part) => Buffer.from(part as string, 'latin1'))]);
}

/** A body of one part. */
export function part(type: string, encoding: string, body: string): string {
  return `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n`;
}

export function base64(bytes: Uint8Array | string): string {
  return Buffer.from(bytes as string)
    .toString('base64')
    .replace(/.{76}/g, '$&\r\n');
}

/** Several parts as one body. */
export function multipart(kind: string, boundary: string, parts: readonly string[]): string {
  const inner = parts.map((each) => `--${boundary}\r\n${each}\r\n`).join('');
  return `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\n${inner}--${boundary}--\r\n`;
}

export function attachment(name: string, type: string, body: string): string {
  return (
    `Content-Type: ${type}; name="${name}"\r\n` +
    `Content-Disposition: attachment; filename="${name}"\r\n` +
    `Content-Transfer-Encoding: base64\r\n\r\n${base64(body)}\r\n`
  );
}

/** "The rounding differs." in Japanese, in the bytes of ISO-2022-JP. */
export const japanese = {
  text: '丸め方が違います。',
  bytes: Buffer.from('1b2442345d24614a7d242c30632424245e243921231b2842', 'hex'),
};

/** "Rounding is wrong, please check." in Chinese, in the bytes of GB 18030. */
export const chinese = {
  text: '四舍五入错误，请检查。',
  bytes: Buffer.from('cbc4c9e1cee5c8ebb4edcef3a3acc7ebbcecb2e9a1a3', 'hex'),
};
