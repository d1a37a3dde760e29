// Taps an element of the page and prints what changed. Usage: node tap.ts LABEL
import { Afd, AfdError } from "afd-client";

const label = process.argv[2] ?? "Display";
const phone = await Afd.connect({ session: "example" });
try {
  console.log((await phone.observe.page({ format: "outline" })).outline);
  const step = await phone.act.tap({ value: label, then: "diff" });
  console.log(step.look?.observation?.outline ?? step.look?.note);
} catch (error) {
  if (!(error instanceof AfdError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  phone.close();
}
