// What JavaScript's JSON.parse makes of each body on stdin (four bytes of length, then the body): a line of JSON each, null where it
// takes the body for no JSON.
import { readFileSync } from "node:fs";

const text = (value) => (typeof value === "string" ? value : null);

const id = (value) => {
  if (typeof value === "string") return { text: value };
  return typeof value === "number" ? { number: String(value) } : null;
};

const message = (value) => ({
  method: text(value?.method),
  name: text(value?.params?.name),
  uri: text(value?.params?.uri),
  id: id(value?.id),
});

const read = (body) => {
  try {
    const value = JSON.parse(new TextDecoder().decode(body));
    return (Array.isArray(value) ? value : [value]).map(message);
  } catch {
    return null;
  }
};

const all = readFileSync(0);
const lines = [];
for (let at = 0; at < all.length; ) {
  const end = at + 4 + all.readUInt32BE(at);
  lines.push(JSON.stringify(read(all.subarray(at + 4, end))) + "\n");
  at = end;
}
process.stdout.write(lines.join(""));
