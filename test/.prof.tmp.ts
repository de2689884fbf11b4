import { applyEdits } from '../src/filesystem/apply-edits.ts';
import { unifiedDiff } from '../src/filesystem/unified-diff.ts';
import { Session } from 'node:inspector';
const lines=(n:number,tag='')=>{let s='';for(let i=0;s.length<n;i++)s+=`  const value${i} = compute${tag}(${i}, "text ${i*7919%1000}");\n`;return s};
const s=lines(1<<20), b=Buffer.from(s), L=s.split('\n');
const fail=(content:Buffer,old:string,nw='x')=>async()=>{try{await applyEdits(content,[{old,new:nw}],{path:'a.ts'})}catch(e){return e}throw new Error('found')};
const n=s.split('compute(').length-1;
const jobs:Record<string,()=>Promise<unknown>>={
 all:async()=>{const r=await applyEdits(b,[{old:'compute(',new:'calculate(',all:n}],{path:'a.ts'});return unifiedDiff(b,r.bytes,{path:'a.ts',encoding:r.encoding,spans:r.spans})},
 differs:fail(b,L.slice(5000,5200).join('\n').replaceAll('compute','komputer')),
 lf:fail(Buffer.from('\n'.repeat(1<<20)),'xyz\n'.repeat(200)),
 identical:fail(Buffer.from('identical line\n'.repeat(70000)),'identical line\n'.repeat(200)+'x'),
 shuffled:async()=>{const p=Array.from({length:1500},(_,i)=>'line '+i%37+' of x'+i*3%91).join('\n'),q=Array.from({length:1500},(_,i)=>'line '+i%41+' of x'+i*5%91).join('\n');return unifiedDiff(Buffer.from(p),Buffer.from(q),{path:'a',encoding:'utf-8'})}
};
for(const [name,f] of Object.entries(jobs)){ for(let i=0;i<3;i++)await f();
 const se=new Session();se.connect();const post=(m:string,p?:any)=>new Promise<any>((ok,no)=>se.post(m,p,(e:any,r:any)=>e?no(e):ok(r)));
 await post('Profiler.enable');await post('Profiler.setSamplingInterval',{interval:200});await post('Profiler.start');
 const x=performance.now();const c=process.cpuUsage();for(let i=0;i<5;i++)await f();const t=(performance.now()-x)/5;const cu=process.cpuUsage(c);
 const {profile}=await post('Profiler.stop');const self=new Map<string,number>();const total=profile.timeDeltas.reduce((a:number,b:number)=>a+b,0);
 const byId=new Map(profile.nodes.map((n:any)=>[n.id,n]));profile.samples.forEach((id:number,i:number)=>{const nd:any=byId.get(id);const k=nd.callFrame.functionName+':'+nd.callFrame.lineNumber;self.set(k,(self.get(k)??0)+profile.timeDeltas[i])});
 console.log(name,t.toFixed(1),'cpu',((cu.user+cu.system)/5000).toFixed(1),[...self].sort((a,b)=>b[1]-a[1]).slice(0,9).map(([k,v])=>`${k} ${(100*v/total).toFixed(0)}%`).join(', '))}
