// The script of a form: computes the proof of work, sends the form and keeps the visitor on the page. Small, and without
// crypto.subtle, which pages on plain http do not have.

export interface FormScriptOptions {
  /** Of the form, such as https://mail.example.com/f/<id>. */
  url: string;
  formId: string;
  lang: string;
  redirect: string | null;
  texts: { thanks: string; thanksText: string; invalid: string; tooMany: string; failed: string; working: string };
  honeypot: string;
}

const SOURCE = `
function compress(h,m,i,w){
  var a=h[0],b=h[1],c=h[2],d=h[3],e=h[4],f=h[5],g=h[6],k=h[7],x,y,t,u,j;
  for(j=0;j<64;j++){
    if(j<16)w[j]=m[i+j];
    else{x=w[j-15];y=w[j-2];
      w[j]=(w[j-16]+((x>>>7|x<<25)^(x>>>18|x<<14)^x>>>3)+w[j-7]+((y>>>17|y<<15)^(y>>>19|y<<13)^y>>>10))|0;}
    t=(k+((e>>>6|e<<26)^(e>>>11|e<<21)^(e>>>25|e<<7))+(e&f^~e&g)+K[j]+w[j])|0;
    u=(((a>>>2|a<<30)^(a>>>13|a<<19)^(a>>>22|a<<10))+(a&b^a&c^b&c))|0;
    k=g;g=f;f=e;e=(d+t)|0;d=c;c=b;b=a;a=(t+u)|0;
  }
  h[0]=(h[0]+a)|0;h[1]=(h[1]+b)|0;h[2]=(h[2]+c)|0;h[3]=(h[3]+d)|0;h[4]=(h[4]+e)|0;h[5]=(h[5]+f)|0;h[6]=(h[6]+g)|0;h[7]=(h[7]+k)|0;
}
function words(s,n){
  for(var m=new Int32Array(n),i=0;i<s.length;i++)m[i>>2]|=s.charCodeAt(i)<<(24-i%4*8);
  return m;
}
function hasher(prefix){
  var full=prefix.length>>6,start=[1779033703,-1150833019,1013904242,-1521486534,1359893119,-1694144372,528734635,1541459225],
    m=words(prefix,(full+1)*16),w=new Int32Array(64),i;
  for(i=0;i<full;i++)compress(start,m,i*16,w);
  var rest=prefix.slice(full*64),before=full*64;
  return function(nonce){
    var s=rest+nonce,l=s.length,n=((l+8>>6)+1)*16,m=words(s,n),h=start.slice(),i;
    m[l>>2]|=128<<(24-l%4*8);m[n-1]=(before+l)*8;
    for(i=0;i<n;i+=16)compress(h,m,i,w);
    return h[0];
  };
}
var K=(function(){
  var k=[],n=2,p=[];
  while(k.length<64){
    if(p.every(function(q){return n%q})){p.push(n);var r=Math.cbrt(n);k.push((r-Math.floor(r))*4294967296|0);}
    n++;
  }
  return k;
})();
function solve(prefix,bits,done){
  var nonce=0,hash=hasher(prefix);
  (function step(){
    var end=Date.now()+40;
    while(Date.now()<end)for(var i=0;i<200;i++){
      if(hash(nonce)>>>(32-bits)===0)return done(String(nonce));
      nonce++;
    }
    setTimeout(step,0);
  })();
}
function challenge(){
  return fetch(O.url+'/challenge',{credentials:'same-origin'}).then(function(r){if(!r.ok)throw r;return r.json();});
}
function utf8(s){return unescape(encodeURIComponent(s));}
function attach(form){
  var current=challenge(),status=form.querySelector('[role=status]'),busy=false,extra=form.querySelector('.extra');
  if(extra){extra.style.position='absolute';extra.style.left='-100vw';}
  current.catch(function(){});
  function say(text){if(status){status.textContent=text;status.hidden=!text;}}
  function fail(text){busy=false;say(text);}
  function send(tried){
    var body={lang:O.lang,_page:location.href.split('#')[0]};
    new FormData(form).forEach(function(v,k){if(k==='topic')(body.topic=body.topic||[]).push(v);else body[k]=v;});
    try{body._timezone=Intl.DateTimeFormat().resolvedOptions().timeZone;}catch(e){}
    current.then(function(c){
      if(Date.parse(c.expiresAt)<Date.now()+60000){current=challenge();return current;}
      return c;
    }).then(function(c){
      var address=String(body.email||'').trim().toLowerCase();
      solve(utf8(c.token+':'+O.formId+':'+address+':'),c.difficulty,function(nonce){
        body._token=c.token;body._nonce=nonce;current=challenge();
        fetch(O.url,{method:'POST',headers:{'Content-Type':'application/json'},body:JSON.stringify(body),credentials:'same-origin'})
        .then(function(r){return r.json().catch(function(){return{};}).then(function(answer){
          if(r.ok&&answer.status==='CONTINUE')location.href=answer.url;
          else if(r.ok&&O.redirect)location.href=O.redirect;
          else if(r.ok){
            var p=document.createElement('p');p.setAttribute('role','status');p.tabIndex=-1;p.textContent=O.texts.thanksText;
            form.replaceWith(p);p.focus();
          }else if(r.status===422){
            var errors=answer.error&&answer.error.errors||[];
            if(!tried&&errors.some(function(e){return e.field==='_token'}))return send(true);
            fail(O.texts.invalid);
          }else fail(r.status===429?O.texts.tooMany:O.texts.failed);
        });}).catch(function(){fail(O.texts.failed);});
      });
    }).catch(function(){current=challenge();current.catch(function(){});fail(O.texts.failed);});
  }
  form.addEventListener('submit',function(event){
    event.preventDefault();
    if(busy)return;
    busy=true;say(O.texts.working);send(false);
  });
}
`;

const wrap = (options: FormScriptOptions, start: string): string =>
  `(function(){'use strict';var O=${inScript(options)};${SOURCE}${start}})();`;

/** JSON that cannot end a script element. */
const inScript = (value: unknown): string =>
  JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

/** For the form's own page. */
export const pageScript = (options: FormScriptOptions): string =>
  wrap(options, "attach(document.getElementById('form'));");

/** Shows the form in place of the script tag. */
export const embedScript = (options: FormScriptOptions, html: string): string =>
  wrap(
    options,
    `var tag=document.currentScript,box=document.createElement('div');box.className='everpost-form';box.innerHTML=${inScript(html)};
if(tag&&tag.parentNode&&tag.parentNode!==document.head)tag.parentNode.insertBefore(box,tag);else document.body.appendChild(box);
attach(box.querySelector('form'));`,
  );
