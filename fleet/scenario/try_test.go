package scenario
import ("testing";"fmt";"time";"github.com/fleetlab/fleetlab/fleet")
func TestTry(t *testing.T){
 for _,p:=range []fleet.Policy{fleet.FCFS,fleet.BestFit,fleet.Preemption}{ for k:=0;k<4;k++{
  c:=fleet.Default(); c.Policy=p; c.Preempt=k&1==1; c.Defrag=k&2==2
  c=Fragmented(c)
  st:=time.Now()
  r,err:=fleet.Simulate(c); if err!=nil{t.Fatal(err)}
  d:=time.Since(st)
  st=time.Now(); l:=r.Ledger(); dl:=time.Since(st)
  a:=r.At(ActIBig.Arrival); 
  fmt.Printf("%-10s kill=%-5v mig=%-5v %v/%v spans %d samples %d | at: idle %d hole %d q %d frag %.3f | goodput %.3f %v frag %.3f %v fgd %.3f/%.3f wait %v med %v p95 %v sla %v evict %d lost %.0f mig %d pause %.0f tax %.0f waste $%.0f jobs %d\n",p,c.Preempt,c.Defrag,d,dl,len(r.Spans),len(r.Samples),a.Idle,a.LargestHole,a.Queued,a.Fragmentation(8),l.Goodput,l.GoodputMet(),l.Fragmentation,l.FragmentationMet(),l.FGDOfIdle,l.FGDOfTotal,l.BigWait,l.StudentMedian,l.StudentP95,l.SLAMet,l.Evictions,l.LostToEvictions.Hours(),l.Migrations,l.Split[fleet.Pause].Hours(),l.Split[fleet.Tax].Hours(),l.WasteUSD,len(c.Jobs))
  if l.Split.Total().Hours()!=80000 {t.Error(l.Split.Total().Hours())}
  for _,h:=range []int{0,1,2,3,4,5,6,8,10,12}{a:=r.At(time.Duration(h)*time.Hour); fmt.Printf(" %dh:%d/%d/q%d",h,a.Working,a.LargestHole,a.Queued)}
  fmt.Println()
  if k==3||k==0{for _,i:=range r.Incidents{fmt.Println(i.ID,i.At,i.Text)}}
 }}
}
