// Signs in to the practice site, sends a form and downloads a file. Usage: node browse.ts, after `afctl init browser practice`
import { Afd } from "afd-client";

const web = await Afd.connect({ session: "browse" });
try {
  const site = (await web.device.list()).devices.find((one) => one.kind === "browser")?.url;
  await web.act.launch({ package: `${site}/login` });
  await web.act.fill({ value: "User name", text: "demo" });
  await web.act.fill({ value: "Password", text: "practice" });
  await web.act.tap({ value: "Sign in" });
  console.log((await web.observe.page({ format: "outline" })).outline?.split("\n")[0]);
  await web.act.launch({ package: `${site}/contact` });
  await web.act.fill({ value: "What is it about?", text: "An order" });
  await web.act.fill({ value: "Your e-mail", text: "demo@example.com" });
  await web.act.fill({ value: "Message", text: "Where is my parcel?" });
  await web.act.tap({ value: "Send message" });
  await web.observe.wait({ until: "text", text: "Thank you" });
  await web.act.launch({ package: `${site}/downloads` });
  await web.act.tap({ value: "Harvest report" });
  for (const file of (await web.device.downloads()).downloads) console.log(file.name, file.state, file.bytes, "bytes");
} finally {
  web.close();
}
